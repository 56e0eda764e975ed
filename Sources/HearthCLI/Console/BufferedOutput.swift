import DocumentModel
import Foundation

/// Bytes on their way to an open file or to standard output, collected into large writes.
struct BufferedOutput {
    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private static let capacity = 64 << 10

    /// Writes to an open file, which stays the caller's to close; `name` is for messages.
    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Writes to standard output.
    static func standard() -> BufferedOutput {
        BufferedOutput(descriptor: STDOUT_FILENO, name: "standard output")
    }

    /// Whether a person sees the lines as they are written.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Takes a line, given without its line feed.
    mutating func writeLine(_ line: some Sequence<UInt8>) throws(StatusError) {
        buffer.append(contentsOf: line)
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.capacity { try flush() }
    }

    /// Hands everything taken so far to the system.
    mutating func flush() throws(StatusError) {
        defer { buffer.removeAll(keepingCapacity: true) }
        var offset = 0
        while offset < buffer.count {
            let count = buffer.withUnsafeBytes { write(descriptor, $0.baseAddress! + offset, $0.count - offset) }
            if count >= 0 {
                offset += count
            } else if errno == EPIPE {
                Self.endAsBrokenPipe()
            } else if errno != EINTR {
                throw SystemError.status(errno, "Can't write to \(name)")
            }
        }
    }

    /// Ends the process as every other program ends when the reader of its output has left, `head` for one.
    private static func endAsBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        Foundation.exit(1)
    }
}
