internal import Dispatch
package import DocumentModel
internal import Glibc

/// A temporary file without a name, deleted when the object is deallocated or the process ends.
///
/// Reads and writes run on a separate work queue.
package final class UnlinkedFile: Sendable {
    private let file: SharedFileDescriptor

    /// Two threads, so that one slow operation doesn't block all others. Operations on different files are unordered.
    private static let queue = WorkQueue(label: "hearth.temporary-files", width: 2, qos: .utility)

    private init(_ file: consuming FileDescriptor) {
        self.file = SharedFileDescriptor(file)
    }

    /// Creates an empty file.
    ///
    /// - Parameter path: A folder on the file system that stores the file.
    /// - Throws: ``StatusCode/unavailable`` if the file cannot be created.
    package static func create(inFolder path: String) async throws(StatusError) -> UnlinkedFile {
        try await run("create") { () throws(FileSystemError) in
            let folder = try FileDescriptor.folder(atPath: path)
            do throws(FileSystemError) {
                return UnlinkedFile(try folder.createUnnamedFile())
            } catch {
                guard error.code == EOPNOTSUPP || error.code == EISDIR else { throw error }
                // Fallback for file systems without unnamed files.
                let name = TemporaryName.numbered(.random(in: .min ... .max))
                let file = try folder.openFile(name, for: .creating)
                try folder.removeFile(name)
                return UnlinkedFile(file)
            }
        }
    }

    /// Writes bytes at an offset.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if the write would leave less disk space than is reserved.
    package func write(_ bytes: [UInt8], at offset: Int) async throws(StatusError) {
        try await Self.run("write") { [file] () throws(FileSystemError) in
            guard try file.descriptor.freeBytes() >= Self.reservedBytes + bytes.count else {
                throw FileSystemError("statvfs", code: ENOSPC)
            }
            try file.descriptor.write(bytes, at: offset)
        }
    }

    /// Reads `count` bytes from `offset`, or fewer at the end of the file.
    package func read(_ count: Int, at offset: Int) async throws(StatusError) -> [UInt8] {
        try await Self.run("read") { [file] () throws(FileSystemError) in try file.descriptor.read(count, at: offset) }
    }

    /// The disk space that is left free for essential writes, such as the journal's.
    private static let reservedBytes = 256 << 20

    private static func run<Result: Sendable>(
        _ action: String,
        _ body: @escaping @Sendable () throws(FileSystemError) -> Result
    ) async throws(StatusError) -> Result {
        try await queue.run { () throws(StatusError) in try reporting(action, "a temporary file", body) }
    }
}
