import Foundation
import Logging
import Synchronization

/// Where a log goes: an entry is one line, whatever is in it.
///
/// Names that clients choose are logged, those of databases for example. What in them would end the line, move a terminal's cursor or
/// turn the direction of the text is escaped, as Swift writes it.
struct LogOutput: TextOutputStream, Sendable {
    private let put: @Sendable ([UInt8]) -> Void
    /// Held while standard error takes an entry, so that none comes between the parts of another.
    private static let turn = Mutex<Void>(())

    /// - Parameter put: Takes each line with the line feed that ends it.
    init(to put: @escaping @Sendable ([UInt8]) -> Void) {
        self.put = put
    }

    /// A log on standard error.
    static func handler(label: String) -> StreamLogHandler {
        StreamLogHandler(
            label: label,
            // Where nobody takes it, all else goes on.
            stream: LogOutput { line in turn.withLock { _ in try? FileHandle.standardError.write(contentsOf: Data(line)) } }
        )
    }

    /// Takes one entry, which the handler ends with a line feed.
    func write(_ entry: String) {
        let text = entry.utf8.last == UInt8(ascii: "\n") ? entry.unicodeScalars.dropLast() : entry.unicodeScalars[...]
        var line = ""
        for scalar in text { line += scalar == "\\" ? "\\\\" : scalar.visible }
        put(Array(line.utf8) + [UInt8(ascii: "\n")])
    }
}
