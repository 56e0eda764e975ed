import DocumentModel
import DocumentStore
import Foundation
import Logging
import Synchronization

/// A log handler that passes each entry on.
struct LineLogHandler: LogHandler {
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info
    private let write: @Sendable (LogEntry) -> Void

    /// - Parameter write: Receives each entry, on any thread.
    init(write: @escaping @Sendable (LogEntry) -> Void) {
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        write(LogEntry(time: .current(), level: event.level, message: event.message.description, metadata: all))
    }
}

extension LineLogHandler {
    /// Serializes writes to standard error, so that entries don't interleave.
    private static let lock = Mutex<Void>(())

    /// A handler that writes text to standard error and waits for its reader, for commands that end soon.
    static var standardError: LineLogHandler {
        LineLogHandler { entry in
            // Standard error may be closed.
            lock.withLock { _ in try? FileHandle.standardError.write(contentsOf: Data(entry.line(.text))) }
        }
    }
}
