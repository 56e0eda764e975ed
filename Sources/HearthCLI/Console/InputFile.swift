import DocumentModel
import Foundation

/// A file, or standard input, that is read from its beginning to its end.
///
/// Reading blocks the calling thread: a command that reads its input has nothing else to do meanwhile.
final class InputFile {
    /// The file as messages name it.
    let name: String
    private let descriptor: Int32
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)

    /// Opens a file; `-` is standard input.
    init(_ path: String) throws(StatusError) {
        guard path != "-" else {
            name = "standard input"
            descriptor = STDIN_FILENO
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError.status(errno, "Can't open \(path)") }
    }

    /// The file that an argument names in place of a text: `@FILE`, or `-` for standard input; nil when it is the text itself.
    static func path(ofArgument argument: String) -> String? {
        if argument == "-" { return argument }
        return argument.utf8.first == UInt8(ascii: "@") ? String(argument.dropFirst()) : nil
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The next bytes; nil at the end.
    func nextChunk() throws(StatusError) -> ArraySlice<UInt8>? {
        var count: Int
        repeat {
            count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SystemError.status(errno, "Can't read \(name)") }
        return count == 0 ? nil : chunk[..<count]
    }

    /// All bytes that are left.
    ///
    /// - Throws: `.invalidArgument` when they are more than `maximumBytes`.
    func readToEnd(maximumBytes: Int) throws(StatusError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try nextChunk() {
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                throw StatusError(.invalidArgument, "\(name) has more than the \(maximumBytes) bytes that are read.")
            }
        }
        return bytes
    }
}
