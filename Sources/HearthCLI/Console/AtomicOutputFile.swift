import DocumentModel
import Foundation
import StorageIO

/// An output file that atomically replaces an existing file when it is complete and synced to disk.
struct AtomicOutputFile {
    /// The descriptor of the temporary file to write to.
    let descriptor: Int32
    private let path: String
    private let temporaryPath: String

    /// Creates a temporary file next to `path`, which need not exist.
    ///
    /// - Throws: `.invalidArgument` if `path` exists and is not a regular file; another ``StatusError`` if the temporary file
    ///   cannot be created.
    init(at path: String) throws(StatusError) {
        // Replaces the target of a symbolic link, not the link.
        self.path =
            realpath(path, nil).map { resolved in
                defer { free(resolved) }
                return String(cString: resolved)
            } ?? path
        var status = stat()
        let exists = stat(self.path, &status) == 0
        guard !exists || status.st_mode & S_IFMT == S_IFREG else {
            throw StatusError(.invalidArgument, "\(path) is not a regular file.")
        }
        temporaryPath = "\(self.path).\(UInt64.random(in: 0...UInt64.max)).tmp"
        let mode = exists ? status.st_mode & 0o777 : GroupAccess.userFileMode
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0, fchmod(descriptor, mode) == 0 else {
            throw FileSystemError("open").status("Cannot create \(temporaryPath)")
        }
    }

    /// Syncs the temporary file and renames it to its final path.
    func commit() throws(StatusError) {
        guard fsync(descriptor) == 0, close(descriptor) == 0, rename(temporaryPath, path) == 0 else {
            let error = FileSystemError("rename").status("Cannot write \(path), which is unchanged")
            unlink(temporaryPath)
            throw error
        }
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Deletes the temporary file.
    func discard() {
        close(descriptor)
        unlink(temporaryPath)
    }
}
