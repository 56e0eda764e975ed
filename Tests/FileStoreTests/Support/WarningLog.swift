import Logging
import Synchronization

/// A log handler that collects entries: warnings and errors, or those from another level on.
final class WarningLog: Sendable {
    struct Entry {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
    }

    private let all = Mutex<[Entry]>([])
    private let level: Logger.Level

    init(from level: Logger.Level = .warning) {
        self.level = level
    }

    /// The collected entries.
    var entries: [Entry] { all.withLock { $0 } }

    /// Returns the metadata of the entries with a message.
    func entries(_ message: String) -> [Logger.Metadata] {
        entries.filter { $0.message == message }.map(\.metadata)
    }

    /// The metadata of the warnings and errors.
    var warnings: [Logger.Metadata] { entries.filter { $0.level >= .warning }.map(\.metadata) }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self, logLevel: self.level) }
    }

    private struct Handler: LogHandler {
        let log: WarningLog
        var metadata = Logger.Metadata()
        var logLevel: Logger.Level

        init(log: WarningLog, logLevel: Logger.Level) {
            self.log = log
            self.logLevel = logLevel
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let entry = Entry(level: event.level, message: event.message.description, metadata: event.metadata ?? [:])
            log.all.withLock { $0.append(entry) }
        }
    }
}
