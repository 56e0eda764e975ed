internal import Dispatch
internal import StorageIO
internal import Synchronization

/// Preallocates journal segments: creates the next one in the background, and fills segments with zeros.
///
/// Syncing a file within its preallocated size costs half as much as syncing a growing file.
final class SegmentPreallocator: Sendable {
    /// A segment's file.
    struct File: Sendable {
        let descriptor: SharedFileDescriptor
        /// The preallocated size.
        let byteCount: Int
    }

    private enum NextSegment {
        case none
        case creating
        case ready(File)
    }

    private let folder: SharedFileDescriptor
    private let segmentBytes: Int
    private let nextSegment = Mutex(NextSegment.none)
    private let queue = DispatchQueue(label: "hearth.journal.preallocation", qos: .utility)

    /// The name of the next segment's file until it gets a header.
    static let fileName = TemporaryName.fixed("spare")

    init(folder: SharedFileDescriptor, segmentBytes: Int) {
        self.folder = folder
        self.segmentBytes = segmentBytes
    }

    /// Creates the next segment's file in the background, unless it exists.
    ///
    /// Does nothing while the disk is too full to hold a second one, since that space may be needed sooner. A failure is not
    /// reported: ``obtainFile()`` tries again and throws.
    func prepare() {
        let starts = nextSegment.withLock { nextSegment in
            guard case .none = nextSegment else { return false }
            nextSegment = .creating
            return true
        }
        guard starts else { return }
        queue.async { [self] in
            let file = hasSpaceForNextSegment ? try? makeFile() : nil
            nextSegment.withLock { $0 = file.map(NextSegment.ready) ?? .none }
        }
    }

    /// Returns the prepared file, waiting for one in progress, or creates it now. The file is named ``fileName``.
    func obtainFile() throws(FileSystemError) -> File {
        queue.sync {}
        let prepared = nextSegment.withLock { nextSegment -> File? in
            guard case .ready(let file) = nextSegment else { return nil }
            nextSegment = .none
            return file
        }
        if let prepared { return prepared }
        return try makeFile()
    }

    /// Removes the prepared file, when the journal is closed.
    func discard() {
        queue.sync {}
        nextSegment.withLock { $0 = .none }
        removeFile()
    }

    /// Removes the file named ``fileName``; a failure is harmless.
    func removeFile() {
        _ = try? folder.descriptor.removeFile(Self.fileName)
    }

    /// Extends a segment that is preallocated up to `start` to the segment size, so that documents can be deleted no matter how
    /// full the disk becomes. If there is less free space than that, takes half of it, but extends to at least `end`.
    ///
    /// - Returns: The new preallocated size.
    func extend(_ file: borrowing FileDescriptor, from start: Int, atLeast end: Int) throws(FileSystemError) -> Int {
        var target = max(end, segmentBytes)
        if let free = try? folder.descriptor.freeBytes(), target - start > free { target = max(end, start + free / 2) }
        do throws(FileSystemError) {
            try Self.fillWithZeros(file, from: start, to: target)
        } catch {
            // A quota or another program may leave less than the file system reports.
            guard error.isNoSpace, target > end else { throw error }
            target = end
            try Self.fillWithZeros(file, from: start, to: target)
        }
        return target
    }

    private var hasSpaceForNextSegment: Bool {
        guard let free = try? folder.descriptor.freeBytes() else { return true }
        return free / 2 > segmentBytes
    }

    private func makeFile() throws(FileSystemError) -> File {
        try folder.descriptor.removeFile(Self.fileName)
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(Self.fileName, for: .creating)
            let byteCount = try extend(file, from: 0, atLeast: JournalSegment.headerBytes)
            return File(descriptor: SharedFileDescriptor(file), byteCount: byteCount)
        } catch {
            // A partial file would take space that others may need.
            removeFile()
            throw error
        }
    }

    /// Writes zeros and syncs them; on a full disk, the file keeps its size.
    private static func fillWithZeros(_ file: borrowing FileDescriptor, from start: Int, to end: Int) throws(FileSystemError) {
        let zeros = [UInt8](repeating: 0, count: min(1 << 20, max(0, end - start)))
        var offset = start
        do throws(FileSystemError) {
            while offset < end {
                try file.write(end - offset < zeros.count ? Array(zeros.prefix(end - offset)) : zeros, at: offset)
                offset += zeros.count
            }
            try file.synchronize()
        } catch {
            // Frees the space for others. If this fails too, the zeros stay, which is harmless.
            if error.isNoSpace { try? file.truncate(to: start) }
            throw error
        }
    }
}
