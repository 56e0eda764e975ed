package import DocumentModel
internal import Glibc
internal import Synchronization

/// A file that keeps disk space and an inode for operations that must succeed on a full disk.
///
/// The file is removed for the duration of such an operation, and allocated again afterward, as far as there is space.
package final class DiskReserve: Sendable {
    private let folder: SharedFileDescriptor
    private let maximumBytes: Int
    /// The size of the file; 0 without one. Locked while the space is in use.
    private let byteCount = Mutex(0)

    /// The name of the file.
    package static let fileName = "reserve"
    /// The part of a small disk that is reserved at most.
    private static let maximumFraction = 64
    /// The size of a write.
    private static let chunkBytes = 64 << 10
    /// The size of a block of most file systems.
    private static let blockBytes = 4 << 10

    /// Creates a reserve with the space of the existing file. ``replenish()`` allocates what is missing.
    ///
    /// - Parameter maximumBytes: The reserved space, limited to a fraction of a small disk.
    package init(in folder: consuming FileDescriptor, maximumBytes: Int) {
        self.folder = SharedFileDescriptor(folder)
        self.maximumBytes = maximumBytes
        let existing = (try? self.folder.descriptor.status(of: Self.fileName))??.size ?? 0
        byteCount.withLock { $0 = existing }
    }

    /// Allocates what is missing, as far as there is space. Costs nothing while nothing is missing.
    package func replenish() {
        byteCount.withLock { allocate(&$0) }
    }

    /// Calls `body` while the reserved space is free.
    package func withReleased<Result: ~Copyable, Failure>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try byteCount.withLock { byteCount throws(Failure) in
            if (try? folder.descriptor.removeFile(Self.fileName)) != nil { byteCount = 0 }
            defer { allocate(&byteCount) }
            return try body()
        }
    }

    /// Calls `body`, and if the disk is full, calls it again while the reserved space is free.
    package func retrying<Result>(_ body: () throws(StatusError) -> Result) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            guard error.code == .resourceExhausted else { throw error }
            return try withReleased(body)
        }
    }

    private func allocate(_ byteCount: inout Int) {
        guard byteCount < maximumBytes, let disk = try? folder.descriptor.diskSpace() else { return }
        let missing = min(maximumBytes, disk.total / Self.maximumFraction) - byteCount
        guard missing >= Self.blockBytes else { return }
        guard let file = try? folder.descriptor.openFile(Self.fileName, for: .updatingOrCreating) else { return }
        let end = byteCount + missing / Self.blockBytes * Self.blockBytes
        // Only a write tells what there is for this process: some file systems keep blocks for the superuser.
        var chunkBytes = Self.chunkBytes
        while byteCount < end {
            let count = min(chunkBytes, end - byteCount)
            do throws(FileSystemError) {
                try file.write([UInt8](repeating: 0, count: count), at: byteCount)
                byteCount += count
            } catch {
                // The rest is allocated later. An empty file keeps an inode.
                try? file.truncate(to: byteCount)
                guard error.isNoSpace, chunkBytes > Self.blockBytes else { return }
                chunkBytes = Self.blockBytes
            }
        }
    }
}
