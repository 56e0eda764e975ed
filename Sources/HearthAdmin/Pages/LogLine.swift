import HearthService
import Logging

/// A line of the server's log.
struct LogLine: Sendable {
    private let line: RecentLog.Line

    init(_ line: RecentLog.Line) {
        self.line = line
    }

    /// Whether it says that something is wrong.
    private var isWarning: Bool { line.level >= .warning }
}

extension LogLine: ViewModel {
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
