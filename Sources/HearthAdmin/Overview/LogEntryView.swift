import HearthAPI
import Logging

/// An entry of the server's log.
struct LogEntryView: Sendable {
    private let line: RecentLog.Line

    init(_ line: RecentLog.Line) {
        self.line = line
    }

    /// True if the level is warning or above.
    private var isWarning: Bool { line.level >= .warning }
}

extension LogEntryView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "time": TimeView(line.time)
        case "level": line.level.rawValue
        case "isWarning": isWarning
        case "message": DisplayText(line.message)
        case "details": line.details.map { DisplayText("\($0.name)=\($0.value)") }
        default: nil
        }
    }
}
