import Logging
import Synchronization

/// A log handler that collects the metadata of warnings and errors.
final class WarningLog: Sendable {
    private let entries = Mutex<[Logger.Metadata]>([])

    var warnings: [Logger.Metadata] { entries.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: WarningLog
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = event.metadata ?? [:]
            log.entries.withLock { $0.append(metadata) }
        }
    }
}
