internal import Glibc

/// Disk space set aside for files that are written later: an unnamed, preallocated file that shrinks as they are written.
///
/// Inodes cannot be set aside, so their number is only checked, and so is the space where a file cannot be preallocated.
package struct SpaceReservation {
    /// The preallocated file; `nil` where the file system does not support it.
    private let file: SharedFileDescriptor?
    private var byteCount: Int
    /// The part that was released in advance.
    private var advanceBytes = 0
    /// The space that is released in advance, because each release changes the file system's metadata: a small part of all, which
    /// others may take meanwhile.
    private let maximumAdvanceBytes: Int
    /// The number of inodes that must remain, since others use them concurrently.
    private static let marginFiles = 100
    /// The space that an entry of a folder and an inode take.
    private static let bytesPerFile = 1 << 10

    /// Reserves space in the file system of a folder.
    ///
    /// - Parameters:
    ///   - byteCount: The space of the files' contents.
    ///   - fileCount: The number of files to be created.
    /// - Throws: `ENOSPC` if there is not enough space, or there are not enough inodes.
    package init(byteCount: Int, fileCount: Int, in folder: borrowing FileDescriptor) throws(FileSystemError) {
        if fileCount > 0, let inodes = try folder.inodes(), inodes.free < fileCount + Self.marginFiles {
            var error = FileSystemError("fstatvfs", code: ENOSPC)
            error.lacksInodes = true
            throw error
        }
        self.byteCount = byteCount
        maximumAdvanceBytes = min(1 << 20, byteCount / 8)
        guard byteCount > 0 else {
            file = nil
            return
        }
        guard try folder.freeBytes() >= byteCount + fileCount * Self.bytesPerFile else {
            throw FileSystemError("fstatvfs", code: ENOSPC)
        }
        file = try Self.preallocate(byteCount, in: folder)
    }

    private static func preallocate(
        _ byteCount: Int,
        in folder: borrowing FileDescriptor
    ) throws(FileSystemError) -> SharedFileDescriptor? {
        guard let file = try? folder.createUnnamedFile() else { return nil }
        do throws(FileSystemError) {
            try file.allocate(byteCount)
        } catch {
            guard !error.isNoSpace else { throw error }
            return nil
        }
        return SharedFileDescriptor(file)
    }

    /// Releases part of the space, for a file that is about to be written.
    package mutating func release(_ count: Int) {
        guard let file else { return }
        if advanceBytes < count {
            let released = min(count + maximumAdvanceBytes, byteCount)
            byteCount -= released
            advanceBytes += released
            // If this fails, the space stays reserved until the file is closed.
            try? file.descriptor.truncate(to: byteCount)
        }
        advanceBytes = max(advanceBytes - count, 0)
    }
}
