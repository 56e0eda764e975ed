import Cryptography
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The folder of a backup that is being made. It copies files, and lists each with its SHA-256 digest in ``fileListName``.
///
/// A file that the previous backup has as well becomes another name of that one (a hard link), and takes no space. It counts as the
/// same if it has the same path, size, modification time and contents: a disk can lose data without a word, and so a backup can be
/// altered. Nobody may write what can have several names: not the files but the segments of journals, so that a copy of the backup can be
/// served.
final class BackupWriter: Sendable {
    private struct List {
        let file: SharedFileDescriptor
        var offset = 0
        var pending: [UInt8] = []
        var fileCount = 0
        var byteCount = 0
        /// The files that commits have changed after they were listed.
        var replaced: Set<String> = []

        mutating func flush() throws(FileSystemError) {
            try file.descriptor.write(pending, at: offset)
            offset += pending.count
            pending.removeAll(keepingCapacity: true)
        }
    }

    /// The backup's folder.
    let folder: SharedFileDescriptor
    /// The folder of the previous backup; `nil` without one.
    let previous: SharedFileDescriptor?
    private let progress: BackupProgress
    private let list: Mutex<List>
    private let isCancelled = Atomic(false)
    private let failure = Mutex<StatusError?>(nil)

    /// The list of the files with their digests, in the format of `sha256sum`.
    static let fileListName = "SHA256SUMS"
    private static let pendingBytes = 64 << 10
    /// The size of the pieces in which larger files are copied.
    private static let pieceBytes = 1 << 20
    /// The number of files between two looks at the space that is left.
    private static let spaceCheckInterval = 256

    /// Begins a backup in an empty folder.
    ///
    /// - Parameter progress: Receives the number of files.
    init(_ folder: SharedFileDescriptor, previous: SharedFileDescriptor?, progress: BackupProgress) throws(StatusError) {
        self.progress = progress
        self.folder = folder
        self.previous = previous
        let file = try reportingInBackups("create", Self.fileListName) { () throws(FileSystemError) in
            SharedFileDescriptor(try folder.descriptor.openFile(Self.fileListName, for: .creating))
        }
        list = Mutex(List(file: file))
    }

    /// Makes the copies in progress fail soon.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    /// Records the error of a thread, so that the others stop, too.
    func fail(_ error: StatusError) {
        failure.withLock { $0 = $0 ?? error }
    }

    /// Checks that the backup goes on.
    ///
    /// - Throws: The first error of a thread; `.cancelled` after ``cancel()``.
    func check() throws(StatusError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
        if isCancelled.load(ordering: .relaxed) { throw StatusError(.cancelled, "The backup was cancelled.") }
    }

    /// Completes the list; all files are durable when this returns.
    ///
    /// - Returns: The numbers of files and bytes, and the digest of the list.
    func finish() throws(StatusError) -> (fileCount: Int, byteCount: Int, digest: String) {
        try check()
        let result = try list.withLock { list throws(StatusError) in
            let digest = try completeList(&list)
            try reportingInBackups("write", Self.fileListName) { () throws(FileSystemError) in
                try list.file.descriptor.makeReadOnlyIfPermitted()
            }
            return (list.fileCount, list.byteCount, digest)
        }
        try reportingInBackups("sync", ".") { () throws(FileSystemError) in try folder.descriptor.synchronizeFileSystem() }
        return result
    }

    /// Writes the list anew, with the files that were replaced at its end, and returns its digest.
    private func completeList(_ list: inout List) throws(StatusError) -> String {
        let replaced = list.replaced.sorted()
        try reportingInBackups("write", Self.fileListName) { () throws(FileSystemError) in
            try list.flush()
            guard !list.replaced.isEmpty else { return }
            let complete = TemporaryName.fixed("list")
            var rest = List(file: SharedFileDescriptor(try folder.descriptor.openFile(complete, for: .creating)))
            var lines = try BackupFileList.Reader(folder)
            while let line = try lines.next() {
                guard let entry = BackupFileList.entry(line), !list.replaced.contains(entry.path) else { continue }
                rest.pending += line
                rest.pending.append(UInt8(ascii: "\n"))
                if rest.pending.count >= Self.pendingBytes { try rest.flush() }
            }
            try rest.flush()
            try folder.descriptor.rename(complete, to: Self.fileListName)
            (rest.fileCount, rest.byteCount) = (list.fileCount, list.byteCount)
            list = rest
        }
        for path in replaced { try addReplaced(path, to: &list) }
        return try reportingInBackups("read", Self.fileListName) { () throws(FileSystemError) in
            try list.flush()
            return Hexadecimal.encode(try BackupFileList.digest(in: folder).digest)
        }
    }

    private func addReplaced(_ path: String, to list: inout List) throws(StatusError) {
        try reportingInBackups("read", path) { () throws(FileSystemError) in
            let (parent, name) = try parentFolder(of: path)
            guard let parent, let bytes = try parent.descriptor.contents(ofFile: name, maximumBytes: .max) else { return }
            try parent.descriptor.openFile(name, for: .reading).makeReadOnlyIfPermitted()
            list.pending += BackupFileList.line(path, Array(SHA256.digest(of: bytes)))
        }
    }

    private func parentFolder(of path: String) throws(FileSystemError) -> (SharedFileDescriptor?, name: String) {
        let components = path.pathComponents.map(String.init)
        var parent: SharedFileDescriptor? = folder
        for name in components.dropLast() { parent = try parent?.folderIfPresent(name) }
        return (parent, components.last ?? "")
    }
}

// MARK: - Files

extension BackupWriter {
    /// Copies a file. Has no effect if it does not exist or is not a regular file.
    ///
    /// - Parameters:
    ///   - source: The folder of the file.
    ///   - target: The folder in the backup.
    ///   - previous: The same folder in the previous backup; `nil` without one.
    ///   - path: The path of the target folder in the backup, which ends with a slash unless it is empty.
    func copyFile(
        _ name: String,
        from source: SharedFileDescriptor,
        to target: SharedFileDescriptor,
        previous: SharedFileDescriptor?,
        path: String
    ) throws(StatusError) {
        try reportingInBackups("copy", path + name) { () throws(FileSystemError) in
            let file: FileDescriptor
            do throws(FileSystemError) {
                file = try source.descriptor.openFile(name, for: .reading)
            } catch {
                // Removed since it was listed, or a link.
                guard error.isNotFound || error.isSymbolicLink else { throw error }
                return
            }
            let status = try file.status()
            guard status.kind == .file else { return }
            if let previous, let digest = try digestIfSame(name, file, status, in: previous.descriptor),
                try previous.descriptor.link(name, in: target.descriptor)
            {
                return try add(path + name, digest, byteCount: status.size)
            }
            let copy = SharedFileDescriptor(try target.descriptor.openFile(name, for: .creating))
            try add(path + name, contentsOf: file, byteCount: status.size, to: copy)
            try copy.descriptor.setModificationTimeIfPermitted(microseconds: status.identity.modifiedMicroseconds)
            try copy.descriptor.makeReadOnlyIfPermitted()
        }
    }

    /// Copies the first bytes of a file.
    func copyFile(
        _ name: String,
        _ file: SharedFileDescriptor,
        byteCount: Int,
        to target: SharedFileDescriptor,
        path: String
    ) throws(StatusError) {
        try reportingInBackups("copy", path + name) { () throws(FileSystemError) in
            let copy = SharedFileDescriptor(try target.descriptor.openFile(name, for: .creating))
            try add(path + name, contentsOf: file.descriptor, byteCount: byteCount, to: copy)
        }
    }

    /// Writes a file.
    func write(_ bytes: [UInt8], as name: String, to target: SharedFileDescriptor, path: String) throws(StatusError) {
        try reportingInBackups("write", path + name) { () throws(FileSystemError) in
            let file = try target.descriptor.openFile(name, for: .creating)
            try file.write(bytes)
            try file.makeReadOnlyIfPermitted()
            var digest = SHA256()
            digest.update(bytes)
            try add(path + name, digest, byteCount: bytes.count)
        }
    }

    /// Calls a body that may write or remove a file that has been copied.
    ///
    /// - Parameter body: Returns whether it has changed the file.
    func replaceFile(at path: String, _ body: () throws(StatusError) -> Bool) throws(StatusError) {
        let before = try sizeOfFile(at: path)
        do throws(StatusError) {
            guard try body() else { return }
        } catch {
            throw error.ofBackupDisk()
        }
        let after = try sizeOfFile(at: path)
        list.withLock { list in
            list.replaced.insert(path)
            list.fileCount += (after == nil ? 0 : 1) - (before == nil ? 0 : 1)
            list.byteCount += (after ?? 0) - (before ?? 0)
        }
    }

    private func sizeOfFile(at path: String) throws(StatusError) -> Int? {
        try reportingInBackups("inspect", path) { () throws(FileSystemError) in
            let (parent, name) = try parentFolder(of: path)
            return try parent?.descriptor.status(of: name)?.size
        }
    }

    /// Returns the digest of a file if the previous backup has the same one; otherwise `nil`.
    private func digestIfSame(
        _ name: String,
        _ file: borrowing FileDescriptor,
        _ status: FileStatus,
        in previous: borrowing FileDescriptor
    ) throws(FileSystemError) -> SHA256? {
        guard let known = try previous.status(of: name), known.kind == .file, known.size == status.size,
            known.identity.modifiedMicroseconds == status.identity.modifiedMicroseconds
        else { return nil }
        let other = try previous.openFile(name, for: .reading)
        var digest = SHA256()
        var offset = 0
        while offset < status.size {
            let bytes = try file.read(min(status.size - offset, Self.pieceBytes), at: offset)
            guard !bytes.isEmpty, try other.read(bytes.count, at: offset) == bytes else { return nil }
            digest.update(bytes)
            offset += bytes.count
        }
        // One of an earlier version of Hearth is not read-only yet.
        try other.makeReadOnlyIfPermitted()
        return digest
    }

    private func add(
        _ path: String,
        contentsOf file: borrowing FileDescriptor,
        byteCount: Int,
        to copy: SharedFileDescriptor
    ) throws(FileSystemError) {
        var digest = SHA256()
        var offset = 0
        while offset < byteCount {
            let bytes = try file.read(min(byteCount - offset, Self.pieceBytes), at: offset)
            // The file has become shorter.
            guard !bytes.isEmpty else { break }
            digest.update(bytes)
            try copy.descriptor.write(bytes, at: offset)
            offset += bytes.count
        }
        try add(path, digest, byteCount: offset)
    }

    private func add(_ path: String, _ digest: consuming SHA256, byteCount: Int) throws(FileSystemError) {
        let line = BackupFileList.line(path, Array(digest.finalize()))
        try list.withLock { list throws(FileSystemError) in
            list.pending += line
            list.fileCount += 1
            list.byteCount += byteCount
            progress.addFile()
            if list.pending.count >= Self.pendingBytes { try list.flush() }
        }
    }
}

// MARK: - Space

extension BackupWriter {
    /// Checks repeatedly that others still have space, since databases may be on the same disk.
    ///
    /// - Parameter count: The number of files that the caller has copied.
    func checkSpace(after count: Int) throws(StatusError) {
        if count.isMultiple(of: Self.spaceCheckInterval) { try Self.checkSpace(on: folder) }
    }

    /// Checks that a disk for backups has more space than is left to others.
    ///
    /// - Throws: `.resourceExhausted` if it has not.
    static func checkSpace(on folder: SharedFileDescriptor) throws(StatusError) {
        let space = try reportingInBackups("get the free space of", ".") { () throws(FileSystemError) in
            try folder.descriptor.diskSpace()
        }
        let minimum = min(256 << 20, space.total / 20)
        guard space.free < minimum else { return }
        throw StatusError(
            .resourceExhausted,
            "The disk for backups has \(space.free >> 20) MiB left, and backups leave \(minimum >> 20) MiB to others. Remove old ones "
                + "with hearth backup prune, or free space.",
            cause: BackupSpaceError(cause: nil)
        )
    }
}
