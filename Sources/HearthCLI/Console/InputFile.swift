import DocumentModel
import Foundation
import StorageIO

/// A file or standard input, read sequentially.
///
/// Reading blocks the calling thread.
final class InputFile {
    /// The name of the file in messages.
    let name: String
    /// The number of bytes read so far.
    private(set) var readCount = 0
    private let descriptor: Int32
    private var chunk = [UInt8](repeating: 0, count: 256 << 10)

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter isRegular: True if only a regular file will do, since others could block the reader.
    init(_ path: String, isRegular: Bool = false) throws(StatusError) {
        guard path != "-" else {
            name = "standard input"
            descriptor = STDIN_FILENO
            return
        }
        name = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | (isRegular ? O_NONBLOCK : 0))
        guard descriptor >= 0 else { throw FileSystemError("open").status("Cannot open \(path)") }
        guard !isRegular || byteCount != nil else {
            throw StatusError(.invalidArgument, "Cannot read \(path): it is not a regular file.")
        }
    }

    /// Returns the path in an argument of the form `@FILE`, or `-` for standard input; `nil` for any other argument.
    static func path(ofArgument argument: String) -> String? {
        if argument == "-" { return argument }
        return argument.utf8.first == UInt8(ascii: "@") ? String(argument.dropFirst()) : nil
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The size of the file; `nil` if it is not a regular file.
    var byteCount: Int? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    /// Returns the next chunk; `nil` at the end of the file.
    func nextChunk() throws(StatusError) -> ArraySlice<UInt8>? {
        var count: Int
        repeat {
            count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw FileSystemError("read").status("Cannot read \(name)") }
        readCount += count
        return count == 0 ? nil : chunk[..<count]
    }

    /// Returns the remaining bytes.
    ///
    /// - Throws: `.invalidArgument` if there are more than `maximumBytes`.
    func readToEnd(maximumBytes: Int) throws(StatusError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try nextChunk() {
            bytes += chunk
            guard bytes.count <= maximumBytes else {
                throw StatusError(.invalidArgument, "\(name) is larger than the maximum of \(maximumBytes) bytes.")
            }
        }
        return bytes
    }
}
