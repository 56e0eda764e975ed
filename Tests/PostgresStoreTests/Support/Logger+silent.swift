import Logging

extension Logger {
    /// A logger without output.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
