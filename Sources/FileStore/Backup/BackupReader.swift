import Cryptography
internal import Dispatch
package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// A complete backup, opened for reading.
package final class BackupReader: Sendable {
    /// What the backup is of.
    package let backup: Backup
    let folder: SharedFileDescriptor
    private let listDigest: String

    private static let pieceBytes = 1 << 20
    private static let threadCount = 2

    private init(_ manifest: BackupManifest, in folder: SharedFileDescriptor) {
        self.folder = folder
        backup = manifest.backup
        listDigest = manifest.listDigest
    }

    /// Opens the backup at a path that the operator chose.
    ///
    /// - Throws: `.notFound` if there is no folder; `.failedPrecondition` if it is not a complete backup, or was made by a newer
    ///   version of Hearth; `.dataLoss` if its manifest is damaged.
    package static func open(_ path: String) async throws(StatusError) -> BackupReader {
        try await WorkQueue(label: "hearth.backup.open", width: 1).run { () throws(StatusError) in
            let name = Excerpt(path, maximumBytes: 1_000)
            let folder: SharedFileDescriptor
            do throws(FileSystemError) {
                folder = SharedFileDescriptor(try FileDescriptor.folder(atPath: path))
            } catch {
                throw StatusError(
                    error.isNotFound ? .notFound : error.status("open", ".").code,
                    "Could not open the backup \(name): \(error).",
                    cause: error
                )
            }
            let bytes = try reporting("read", BackupManifest.fileName) { () throws(FileSystemError) in
                try folder.descriptor.contents(ofFile: BackupManifest.fileName, maximumBytes: 1 << 20)
            }
            guard let bytes else {
                throw StatusError(
                    .failedPrecondition,
                    "The folder \(name) is not a complete backup: it has no \(BackupManifest.fileName). hearth backup list shows the "
                        + "backups in a folder."
                )
            }
            let last = path.pathComponents.last.map(String.init) ?? path
            return BackupReader(try BackupManifest(bytes, name: last), in: folder)
        }
    }

    /// Compares the files with their digests.
    ///
    /// - Parameters:
    ///   - interval: 1 for every file, otherwise the number of files of which one is read.
    ///   - onFile: Called for each file that has been read, on any thread. Its error ends the verification.
    ///   - onFault: Called with an error for each file that is missing or altered, on any thread.
    /// - Returns: The number of files that were read.
    /// - Throws: `.dataLoss` if the list of files is damaged; `.cancelled` if the task is cancelled.
    package func verify(
        every interval: Int = 1,
        onFile: @escaping @Sendable () throws(StatusError) -> Void = {},
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError) -> Int {
        let count = Atomic(0)
        let offset = Int.random(in: 0..<interval)
        try await forEachFile { _ in
            { entry, number, folder throws(StatusError) in
                guard number % interval == offset else { return }
                count.add(1, ordering: .relaxed)
                do throws(StatusError) {
                    try Self.check(entry, in: folder)
                } catch {
                    guard error.code == .dataLoss else { throw error }
                    onFault(error)
                }
                try onFile()
            }
        }
        return count.load(ordering: .relaxed)
    }

    private static func check(_ entry: BackupFileList.Entry, in folder: SharedFileDescriptor) throws(StatusError) {
        try read(entry, in: folder) { _, _ in }
    }
}

// MARK: - Files

extension BackupReader {
    /// Handles a file of the backup: its entry in the list, its number there, and its open folder.
    typealias Body = (BackupFileList.Entry, Int, SharedFileDescriptor) throws(StatusError) -> Void

    /// Calls a body with each file of the list, on several threads.
    ///
    /// - Parameters:
    ///   - onListDamage: Called with each fault of the list, which is used as far as it can be, and with an error for each file that it
    ///     lacks; `nil` if a fault ends the reading.
    ///   - makeBody: Returns the body for the files of a thread.
    /// - Throws: `.dataLoss` if the list is missing, or is damaged without `onListDamage`; the first error of a body, after which the others end soon.
    func forEachFile(
        onListDamage: (@Sendable (StatusError) -> Void)? = nil,
        _ makeBody: @escaping @Sendable (_ thread: Int) -> Body
    ) async throws(StatusError) {
        let failure = FirstFailure()
        let result: Result<Void, StatusError> = await withTaskCancellationHandler {
            do throws(StatusError) {
                try await WorkQueue(label: "hearth.backup.read", width: 1, qos: .utility).run { () throws(StatusError) in
                    let isListWhole = try self.checkList(onListDamage)
                    try BackgroundThreads.run(count: Self.threadCount) { thread in
                        do throws(StatusError) {
                            try self.forEachFile(of: thread, failure, onListDamage, makeBody(thread))
                        } catch {
                            failure.record(error)
                        }
                    }
                    try failure.check()
                    if !isListWhole, let onListDamage { try self.forEachUnlistedFile(onListDamage) }
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            failure.record(StatusError(.cancelled, "Reading the backup was cancelled."))
        }
        try result.get()
    }

    private func forEachFile(
        of thread: Int,
        _ failure: FirstFailure,
        _ onListDamage: ((StatusError) -> Void)?,
        _ body: Body
    ) throws(StatusError) {
        var lines = try reporting("open", BackupWriter.fileListName) { () throws(FileSystemError) in
            try BackupFileList.Reader(folder)
        }
        var number = 0
        var opened: (path: Substring, folder: SharedFileDescriptor)?
        while let line = try reporting("read", BackupWriter.fileListName, { () throws(FileSystemError) in try lines.next() }) {
            defer { number += 1 }
            guard number % Self.threadCount == thread else { continue }
            try failure.check()
            guard let entry = BackupFileList.entry(line) else {
                let error = damagedList("line \(number + 1) is not one of a file")
                guard let onListDamage else { throw error }
                onListDamage(error)
                continue
            }
            let parent = entry.path[..<(entry.path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? entry.path.startIndex)]
            if opened?.path != parent {
                opened = try parentFolder(of: entry).map { (parent, $0) }
            }
            // Without its folder, a file is missing: reading it will say so.
            try body(entry, number, opened?.folder ?? folder)
        }
    }

    private func parentFolder(of entry: BackupFileList.Entry) throws(StatusError) -> SharedFileDescriptor? {
        try reporting("open", entry.path) { () throws(FileSystemError) in
            var parent: SharedFileDescriptor? = folder
            for name in entry.components.dropLast() { parent = try parent?.folderIfPresent(String(name)) }
            return parent
        }
    }

    /// Reads a file in pieces, and compares it with its digest.
    ///
    /// - Parameter onPiece: Called with each piece and its offset.
    /// - Returns: The file's modification time, in microseconds since 1970.
    /// - Throws: `.dataLoss` if the file is missing or altered.
    @discardableResult
    static func read(
        _ entry: BackupFileList.Entry,
        in folder: SharedFileDescriptor,
        _ onPiece: ([UInt8], Int) throws(FileSystemError) -> Void
    ) throws(StatusError) -> Int64 {
        let name = entry.components.last.map(String.init) ?? entry.path
        let opened = try readingDisk(entry) { () throws(FileSystemError) -> (SharedFileDescriptor, Int64)? in
            guard try folder.descriptor.status(of: name)?.kind == .file else { return nil }
            let file = SharedFileDescriptor(try folder.descriptor.openFile(name, for: .reading))
            return (file, try file.descriptor.status().identity.modifiedMicroseconds)
        }
        guard let (file, time) = opened else { throw fault("is missing", entry) }
        var digest = SHA256()
        var offset = 0
        while true {
            let bytes = try readingDisk(entry) { () throws(FileSystemError) in try file.descriptor.read(pieceBytes, at: offset) }
            digest.update(bytes)
            try reporting("write", entry.path) { () throws(FileSystemError) in try onPiece(bytes, offset) }
            offset += bytes.count
            if bytes.count < pieceBytes { break }
        }
        guard digest.finalize().elementsEqual(entry.digest) else { throw fault("differs from its SHA-256 digest", entry) }
        return time
    }

    /// Calls a body that reads a file of the backup. A part that the disk cannot read is a fault of the backup.
    private static func readingDisk<Result>(
        _ entry: BackupFileList.Entry,
        _ body: () throws(FileSystemError) -> Result
    ) throws(StatusError) -> Result {
        do throws(FileSystemError) {
            return try body()
        } catch {
            guard error.isDiskFault else { throw error.status("read", entry.path, in: "the backup") }
            throw fault("cannot be read from the disk", entry)
        }
    }

    private static func fault(_ fault: String, _ entry: BackupFileList.Entry) -> StatusError {
        StatusError(
            .dataLoss,
            "The file \(Excerpt(entry.path, maximumBytes: 1_000)) of the backup \(fault).",
            file: StatusError.FileLocation(path: entry.path)
        )
    }
}

// MARK: - List

extension BackupReader {
    /// Compares the list of files with its digest in the manifest; returns whether it is whole.
    private func checkList(_ onListDamage: ((StatusError) -> Void)?) throws(StatusError) -> Bool {
        let found = try reporting("read", BackupWriter.fileListName) { () throws(FileSystemError) in
            try folder.descriptor.status(of: BackupWriter.fileListName)?.kind == .file
                ? try BackupFileList.digest(in: folder) : nil
        }
        guard let found else { throw damagedList("it is missing") }
        guard Hexadecimal.encode(found.digest) == listDigest, found.lineCount == backup.fileCount else {
            let error = damagedList("it differs from its digest in \(BackupManifest.fileName)")
            guard let onListDamage else { throw error }
            onListDamage(error)
            return false
        }
        return true
    }

    /// Calls a body with an error for each file that no line of a damaged list names.
    private func forEachUnlistedFile(_ onListDamage: (StatusError) -> Void) throws(StatusError) {
        var listed: Set<UTF8Key> = [UTF8Key(BackupManifest.fileName), UTF8Key(BackupWriter.fileListName)]
        try reporting("read", BackupWriter.fileListName, in: "the backup") { () throws(FileSystemError) in
            var lines = try BackupFileList.Reader(folder)
            while let line = try lines.next() {
                if let entry = BackupFileList.entry(line) { listed.insert(UTF8Key(entry.path)) }
            }
        }
        var folders = [""]
        while let path = folders.popLast() {
            try reporting("list", path.isEmpty ? "." : path, in: "the backup") { () throws(FileSystemError) in
                var parent: SharedFileDescriptor? = folder
                for name in path.split(separator: "/") { parent = try parent?.folderIfPresent(String(name)) }
                guard let parent else { return }
                var listing = try parent.descriptor.openForListing()
                while let entry = try listing.next() {
                    guard let name = String(validating: entry.bytes, as: UTF8.self) else { continue }
                    switch try parent.descriptor.kind(of: entry) {
                    case .folder: folders.append(path + name + "/")
                    case .file where !listed.contains(UTF8Key(path + name)): onListDamage(Self.unlisted(path + name))
                    default: break
                    }
                }
            }
        }
    }

    private static func unlisted(_ path: String) -> StatusError {
        StatusError(
            .dataLoss,
            "The file \(Excerpt(path, maximumBytes: 1_000)) of the backup has no line in \(BackupWriter.fileListName), which is damaged.",
            file: StatusError.FileLocation(path: path)
        )
    }

    private func damagedList(_ reason: String) -> StatusError {
        StatusError(
            .dataLoss,
            "The list \(BackupWriter.fileListName) of the backup is damaged: \(reason). Use another backup.",
            file: StatusError.FileLocation(path: BackupWriter.fileListName)
        )
    }
}

/// The first error of several threads.
private final class FirstFailure: Sendable {
    private let failure = Mutex<StatusError?>(nil)

    func record(_ error: StatusError) {
        failure.withLock { $0 = $0 ?? error }
    }

    /// - Throws: The error, if there is one.
    func check() throws(StatusError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
