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

    init(_ line: RecentLog.Line) {
        time = TimeView(line.time)
        level = line.level.rawValue
        isWarning = line.level >= .warning
        message = DisplayText(line.message)
        details = line.details.map { DisplayText("\($0.name)=\($0.value)") }
    }
}
