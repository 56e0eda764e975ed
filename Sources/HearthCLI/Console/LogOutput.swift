import Foundation
import Logging
import Synchronization

/// A log stream that writes every entry as one line.
///
/// Log entries contain names chosen by clients, such as those of databases. Line breaks, control characters and bidirectional
/// formatting characters are escaped in Swift's notation.
struct LogOutput: TextOutputStream, Sendable {
    private let writeLine: @Sendable ([UInt8]) -> Void
    /// Serializes writes to standard error, so that entries don't interleave.
    private static let lock = Mutex<Void>(())

    /// - Parameter writeLine: Receives each line, including its line feed.
    init(_ writeLine: @escaping @Sendable ([UInt8]) -> Void) {
        self.writeLine = writeLine
    }

    /// Returns a log handler that writes to standard error.
    static func handler(label: String) -> StreamLogHandler {
        StreamLogHandler(
            label: label,
            // Standard error may be closed.
            stream: LogOutput { line in lock.withLock { _ in try? FileHandle.standardError.write(contentsOf: Data(line)) } }
        )
    }

    /// Writes one entry, which ends with a line feed.
    func write(_ entry: String) {
        let text = entry.utf8.last == UInt8(ascii: "\n") ? entry.unicodeScalars.dropLast() : entry.unicodeScalars[...]
        var line = ""
        for scalar in text { line += scalar == "\\" ? "\\\\" : scalar.terminalSafe }
        writeLine(Array(line.utf8) + [UInt8(ascii: "\n")])
    }
}
