package import Logging

/// A log handler that records entries, to be taken one at a time.
package final class EntryLog: Sendable {
    /// An entry.
    package struct Entry: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: Logger.Metadata

        /// The message and the metadata.
        package var text: String { "\(message) \(metadata)" }
    }

    private let entries = AsyncStream<Entry>.makeStream()

    package init() {}

    /// Waits for the next entry.
    package func next() async throws -> Entry {
        for await entry in entries.stream { return entry }
        throw CancellationError()
    }

    /// The handler.
    package var handler: some LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: EntryLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.entries.continuation.yield(
                Entry(level: event.level, message: "\(event.message)", metadata: event.metadata ?? [:])
            )
        }
    }
}
