import DocumentModel
import Foundation
import StorageIO

/// A buffered writer to an open file or to standard output.
struct BufferedOutput {
    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private static let capacity = 64 << 10

    /// Creates a writer to an open file, which the caller closes. `name` identifies the file in error messages.
    init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Returns a writer to standard output.
    static func standard() -> BufferedOutput {
        BufferedOutput(descriptor: STDOUT_FILENO, name: "standard output")
    }

    /// True if the file is a terminal.
    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Appends a line and a line feed.
    mutating func writeLine(_ line: some Sequence<UInt8>) throws(StatusError) {
        buffer.append(contentsOf: line)
        try write(CollectionOfOne(UInt8(ascii: "\n")))
    }

    /// Appends bytes.
    mutating func write(_ bytes: some Sequence<UInt8>) throws(StatusError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.capacity { try flush() }
    }

    /// Writes the buffer to the file.
    mutating func flush() throws(StatusError) {
        defer { buffer.removeAll(keepingCapacity: true) }
        var offset = 0
        while offset < buffer.count {
            let count = buffer.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + offset, $0.count - offset) }
            if count >= 0 {
                offset += count
            } else if errno == EPIPE {
                Self.exitWithBrokenPipe()
            } else if errno != EINTR {
                throw FileSystemError("write").status("Cannot write to \(name)")
            }
        }
    }

    /// Terminates the process with SIGPIPE, like other programs whose output is piped into `head`.
    private static func exitWithBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        Foundation.exit(1)
    }
}
