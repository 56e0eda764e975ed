internal import DocumentModel

/// The time for which all attempts have failed, which is reported every ten minutes.
struct FailurePeriod {
    /// The local time of the first failure; `nil` before it.
    private(set) var start: Timestamp?
    private var firstFailure: ContinuousClock.Instant?
    private var reportCount = 0

    /// The minutes between reports.
    private static let interval = 10

    /// Records a failure. Returns the minutes since the first one if they are to be reported, otherwise `nil`.
    mutating func recordFailure(at time: ContinuousClock.Instant) -> Int? {
        guard let firstFailure else {
            (start, firstFailure) = (Timestamp.localTime, time)
            return nil
        }
        let minutes = Int((time - firstFailure) / .seconds(60))
        guard minutes >= Self.interval * (reportCount + 1) else { return nil }
        reportCount = minutes / Self.interval
        return minutes
    }
}
