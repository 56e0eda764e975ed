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
    /// - Parameter makeBody: Returns the body for the files of a thread.
    /// - Throws: `.dataLoss` if the list is damaged; the first error of a body, after which the others end soon.
    func forEachFile(_ makeBody: @escaping @Sendable (_ thread: Int) -> Body) async throws(StatusError) {
        let failure = FirstFailure()
        let result: Result<Void, StatusError> = await withTaskCancellationHandler {
            do throws(StatusError) {
                try await WorkQueue(label: "hearth.backup.read", width: 1, qos: .utility).run { () throws(StatusError) in
                    try self.checkList()
                    try BackgroundThreads.run(count: Self.threadCount) { thread in
                        do throws(StatusError) {
                            try self.forEachFile(of: thread, failure, makeBody(thread))
                        } catch {
                            failure.record(error)
                        }
                    }
                    try failure.check()
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

    private func forEachFile(of thread: Int, _ failure: FirstFailure, _ body: Body) throws(StatusError) {
        var lines = try reporting("open", BackupWriter.fileListName) { () throws(FileSystemError) in
            try BackupFileList.Reader(folder)
        }
        var number = 0
        var opened: (path: Substring, folder: SharedFileDescriptor)?
        while let line = try reporting("read", BackupWriter.fileListName, { () throws(FileSystemError) in try lines.next() }) {
            defer { number += 1 }
            guard number % Self.threadCount == thread else { continue }
            try failure.check()
            guard let entry = BackupFileList.entry(line) else { throw damagedList("line \(number + 1) is not one of a file") }
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
        var digest = SHA256()
        let time: Int64? = try reporting("read", entry.path) { () throws(FileSystemError) in
            guard try folder.descriptor.status(of: name)?.kind == .file else { return nil }
            let file = try folder.descriptor.openFile(name, for: .reading)
            var offset = 0
            while case let bytes = try file.read(pieceBytes, at: offset), !bytes.isEmpty {
                digest.update(bytes)
                try onPiece(bytes, offset)
                offset += bytes.count
                if bytes.count < pieceBytes { break }
            }
            return try file.status().identity.modifiedMicroseconds
        }
        guard let time else { throw fault("is missing", entry) }
        guard digest.finalize().elementsEqual(entry.digest) else { throw fault("differs from its SHA-256 digest", entry) }
        return time
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
    /// Compares the list of files with its digest in the manifest.
    private func checkList() throws(StatusError) {
        let found = try reporting("read", BackupWriter.fileListName) { () throws(FileSystemError) in
            try folder.descriptor.status(of: BackupWriter.fileListName)?.kind == .file
                ? try BackupFileList.digest(in: folder) : nil
        }
        guard let found else { throw damagedList("it is missing") }
        guard Hexadecimal.encode(found.digest) == listDigest, found.lineCount == backup.fileCount else {
            throw damagedList("it differs from its digest in \(BackupManifest.fileName)")
        }
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
