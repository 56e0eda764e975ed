package import DocumentModel
import DocumentStore
package import Logging
import Synchronization

/// The last lines of the log, for admins who can't look at where it goes.
///
/// It holds what the log itself is given, from `info` on, and of that no more than ``capacity`` lines.
package final class RecentLog: Sendable {
    /// Something that was logged.
    package struct Line: Sendable {
        package let time: Timestamp
        package let level: Logger.Level
        package let message: String
        /// What goes with it, in order of the names.
        package let details: [(name: String, value: String)]
    }

    /// How many lines are held.
    package static let capacity = 200
    /// How many Unicode scalars of a value are held.
    private static let valueLength = 1_000

    private let kept = Mutex<[Line]>([])

    package init() {}

    /// The lines, the oldest first.
    package var lines: [Line] { kept.withLock { $0 } }

    /// What gives a logger's lines to this log, beside where they else go.
    package var handler: some LogHandler { RecentLogHandler(log: self) }

    fileprivate func add(_ event: LogEvent, _ metadata: Logger.Metadata) {
        let line = Line(
            time: .current(),
            level: event.level,
            message: Self.cut(event.message.description),
            details: metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { ($0.key, Self.cut($0.value.description)) }
        )
        kept.withLock { lines in
            if lines.count >= Self.capacity { lines.removeFirst(lines.count - Self.capacity + 1) }
            lines.append(line)
        }
    }

    private static func cut(_ text: String) -> String {
        guard text.unicodeScalars.count > valueLength else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(valueLength))) + "…"
    }
}

/// Gives what is logged to a ``RecentLog``.
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
