internal import DocumentModel
internal import StorageIO

/// A copy of a folder, with everything in it but temporary files, while others change it. Several threads share it: each goes through
/// all folders, and copies its part of the files.
struct FolderCopy {
    private let backup: BackupWriter
    private let thread: Int
    private var fileCount = 0

    /// The number of threads: one can read while another one writes.
    private static let threadCount = 2

    private init(_ backup: BackupWriter, thread: Int) {
        self.backup = backup
        self.thread = thread
    }

    /// Copies a folder into a backup. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - target: The folder in the backup.
    ///   - previous: The same folder in the previous backup; `nil` without one.
    ///   - path: The path of the target folder in the backup, with a slash at its end.
    static func run(
        _ source: SharedFileDescriptor,
        to target: SharedFileDescriptor,
        previous: SharedFileDescriptor?,
        path: String,
        in backup: BackupWriter
    ) throws(StatusError) {
        try BackgroundThreads.run(count: threadCount) { thread in
            var copy = FolderCopy(backup, thread: thread)
            do throws(StatusError) {
                try copy.run(source, to: target, previous: previous, path: path)
            } catch {
                backup.fail(error)
            }
        }
        try backup.check()
    }

    private mutating func run(
        _ source: SharedFileDescriptor,
        to target: SharedFileDescriptor,
        previous: SharedFileDescriptor?,
        path: String
    ) throws(StatusError) {
        try backup.check()
        var listing = try reporting("list", path) { () throws(FileSystemError) in try source.descriptor.openForListing() }
        while let entry = try reporting("list", path, { () throws(FileSystemError) in try listing.next() }) {
            // Hearth gives no file another name, and none of its users can see such a file.
            guard let name = String(validating: entry.bytes, as: UTF8.self), !TemporaryName.matches(entry.name) else { continue }
            switch try reporting("inspect", path + name, { () throws(FileSystemError) in try source.descriptor.kind(of: entry) })
            {
            case .folder: try copyFolder(name, from: source, to: target, previous: previous, path: path)
            case .file where BackgroundThreads.number(for: entry.bytes, of: Self.threadCount) == thread:
                try backup.copyFile(name, from: source, to: target, previous: previous, path: path)
                fileCount += 1
                try backup.check()
                try backup.checkSpace(after: fileCount)
            case .file, .symbolicLink, .other, nil: break
            }
        }
    }

    private mutating func copyFolder(
        _ name: String,
        from source: SharedFileDescriptor,
        to target: SharedFileDescriptor,
        previous: SharedFileDescriptor?,
        path: String
    ) throws(StatusError) {
        let path = path + name + "/"
        let (opened, created, earlier) = try reportingInBackups("create", path) { () throws(FileSystemError) in
            let opened = try source.folderIfPresent(name)
            let created = try opened.map { _ throws(FileSystemError) in try target.createdFolder(name) }
            return (opened, created, try previous?.folderIfPresent(name))
        }
        guard let opened, let created else { return }
        try run(opened, to: created, previous: earlier, path: path)
    }
}
