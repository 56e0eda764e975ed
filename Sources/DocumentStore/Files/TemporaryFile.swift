internal import Dispatch
package import DocumentModel
internal import Glibc

/// A file in a folder that nobody else sees: it has no name there, and is gone when this is, however the program ends.
///
/// It is read and written on threads of its own.
package final class TemporaryFile: Sendable {
    private let file: SharedDescriptor

    /// Files have no order among each other; two threads keep one that is slow from holding up all.
    private static let threads = WorkQueue(label: "hearth.temporary-files", width: 2, qos: .utility)

    private init(_ file: consuming FileDescriptor) {
        self.file = SharedDescriptor(file)
    }

    /// Makes an empty file.
    ///
    /// - Parameter path: A folder; what is in it stays as it is.
    /// - Throws: ``StatusCode/unavailable`` where no file can be made.
    package static func make(inFolder path: String) async throws(StatusError) -> TemporaryFile {
        try await run("make") { () throws(SystemError) in
            let folder = try FileDescriptor.folder(atPath: path)
            do throws(SystemError) {
                return TemporaryFile(try folder.makeUnnamedFile())
            } catch {
                guard error.code == EOPNOTSUPP || error.code == EISDIR else { throw error }
                // Not every file system has files without names. The name is gone again before anybody could look for it.
                let name = TemporaryName.numbered(.random(in: .min ... .max))
                let file = try folder.openFile(name, for: .creating)
                try folder.removeFile(name)
                return TemporaryFile(file)
            }
        }
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` where less room would be left on the disk than others need.
    package func write(_ bytes: [UInt8], at offset: Int) async throws(StatusError) {
        try await Self.run("write") { [file] () throws(SystemError) in
            guard try file.descriptor.freeBytes() >= Self.reservedBytes + bytes.count else {
                throw SystemError("statvfs", code: ENOSPC)
            }
            try file.descriptor.write(bytes, at: offset)
        }
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end.
    package func read(_ count: Int, at offset: Int) async throws(StatusError) -> [UInt8] {
        try await Self.run("read") { [file] () throws(SystemError) in try file.descriptor.read(count, at: offset) }
    }

    /// As much of the disk is left to those who must write, such as the journal.
    private static let reservedBytes = 256 << 20

    private static func run<Result: Sendable>(
        _ action: String,
        _ body: @escaping @Sendable () throws(SystemError) -> Result
    ) async throws(StatusError) -> Result {
        try await threads.run { () throws(StatusError) in try reporting(action, "a temporary file", body) }
    }
}
