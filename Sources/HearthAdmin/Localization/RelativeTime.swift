import DocumentModel

/// Formats ages and durations in words, in their largest unit.
enum RelativeTime {
    /// Formats the age of a timestamp, `3 minutes ago`. Timestamps up to a minute in the future are formatted as `just now`.
    static func text(of time: Timestamp, at now: Timestamp) -> String {
        let seconds = (now.microseconds - time.microseconds) / 1_000_000
        return switch Span(seconds: seconds) {
        case .years(let count): localized(count: count, one: "{count} year ago", other: "{count} years ago")
        case .months(let count): localized(count: count, one: "{count} month ago", other: "{count} months ago")
        case .days(let count): localized(count: count, one: "{count} day ago", other: "{count} days ago")
        case .hours(let count): localized(count: count, one: "{count} hour ago", other: "{count} hours ago")
        case .minutes(let count): localized(count: count, one: "{count} minute ago", other: "{count} minutes ago")
        case .seconds(let count): localized(count: count, one: "{count} second ago", other: "{count} seconds ago")
        case nil: seconds > -60 ? localized("just now") : localized("in the future")
        }
    }

    /// Formats a duration: `3 minutes`.
    static func text(of duration: Duration) -> String {
        switch Span(seconds: duration.components.seconds) {
        case .years(let count): localized(count: count, one: "{count} year", other: "{count} years")
        case .months(let count): localized(count: count, one: "{count} month", other: "{count} months")
        case .days(let count): localized(count: count, one: "{count} day", other: "{count} days")
        case .hours(let count): localized(count: count, one: "{count} hour", other: "{count} hours")
        case .minutes(let count): localized(count: count, one: "{count} minute", other: "{count} minutes")
        case .seconds(let count): localized(count: count, one: "{count} second", other: "{count} seconds")
        case nil: localized("a few seconds")
        }
    }

    /// A duration in its largest unit.
    private enum Span {
        case years(Int64)
        case months(Int64)
        case days(Int64)
        case hours(Int64)
        case minutes(Int64)
        case seconds(Int64)

        /// Converts a duration; returns `nil` for less than five seconds.
        init?(seconds: Int64) {
            switch seconds {
            case 31_557_600...: self = .years(seconds / 31_557_600)
            case 2_629_800...: self = .months(seconds / 2_629_800)
            case 86_400...: self = .days(seconds / 86_400)
            case 3_600...: self = .hours(seconds / 3_600)
            case 60...: self = .minutes(seconds / 60)
            case 5...: self = .seconds(seconds)
            default: return nil
            }
        }
    }
}
