import HearthAPI
import Logging

/// An entry of the server's log.
struct LogEntryView: ViewModel {
    private let time: TimeView
    private let level: String
    /// True if the level is warning or above.
    private let isWarning: Bool
    private let message: DisplayText
    private let details: [DisplayText]

    init(_ entry: RecentLog.Entry) {
        time = TimeView(entry.time)
        level = entry.level.rawValue
        isWarning = entry.level >= .warning
        message = DisplayText(entry.message)
        details = entry.details.map { DisplayText("\($0.name)=\($0.value)") }
    }
}
