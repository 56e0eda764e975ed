import DocumentModel

/// Spans of time in words, in their largest unit.
enum Age {
    /// `3 minutes ago`; moments just ahead of the clock count as now.
    static func text(of time: Timestamp, at now: Timestamp) -> String {
        let seconds = (now.microseconds - time.microseconds) / 1_000_000
        if let span = span(seconds: seconds) { return "\(span) ago" }
        return seconds > -60 ? "just now" : "in the future"
    }

    /// `3 minutes`.
    static func text(of duration: Duration) -> String {
        span(seconds: duration.components.seconds) ?? "a few seconds"
    }

    private static func span(seconds: Int64) -> String? {
        for (unit, singular, plural) in units where seconds >= unit {
            return Counting.phrase(seconds / unit, singular, plural)
        }
        return nil
    }

    private static let units: [(Int64, String, String)] = [
        (31_557_600, "year", "years"), (2_629_800, "month", "months"), (86_400, "day", "days"), (3_600, "hour", "hours"),
        (60, "minute", "minutes"), (5, "second", "seconds"),
    ]
}
