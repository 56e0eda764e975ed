import Logging

@testable import HearthAdmin

extension PageErrorLog {
    /// A log without output.
    static let silent = PageErrorLog(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
}
