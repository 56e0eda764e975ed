package import DocumentModel
import DocumentStore
package import Logging
import Synchronization

/// A ring buffer of the most recent log entries, for admins without access to the server's log.
///
/// It holds the last ``capacity`` entries of level `info` and above.
package final class RecentLog: Sendable {
    /// A log entry.
    package struct Entry: Sendable {
        package let time: Timestamp
        package let level: Logger.Level
        package let message: String
        /// The metadata, sorted by key.
        package let details: [(name: String, value: String)]
    }

    /// The maximum number of entries.
    package static let capacity = 200
    /// The number of Unicode scalars to which a message or value is truncated.
    private static let maximumValueLength = 1_000

    private let buffer = Mutex<[Entry]>([])

    package init() {}

    /// The entries, oldest first.
    package var entries: [Entry] { buffer.withLock { $0 } }

    /// A log handler that appends to this log, to be used alongside the server's own log handler.
    package var handler: some LogHandler { RecentLogHandler(log: self) }

    fileprivate func add(_ event: LogEvent, _ metadata: Logger.Metadata) {
        let entry = Entry(
            time: .current(),
            level: event.level,
            message: Self.truncated(event.message.description),
            details: metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { ($0.key, Self.truncated($0.value.description)) }
        )
        buffer.withLock { entries in
            if entries.count >= Self.capacity { entries.removeFirst(entries.count - Self.capacity + 1) }
            entries.append(entry)
        }
    }

    private static func truncated(_ text: String) -> String {
        guard text.unicodeScalars.count > maximumValueLength else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(maximumValueLength))) + "…"
    }
}

/// A log handler that appends to a ``RecentLog``.
private struct RecentLogHandler: LogHandler {
    let log: RecentLog
    var metadataProvider: Logger.MetadataProvider?
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.info

    init(log: RecentLog) {
        self.log = log
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let provided = metadataProvider?.get() ?? [:]
        let all = metadata.merging(provided) { $1 }.merging(event.metadata ?? [:]) { $1 }
        log.add(event, all)
    }
}
