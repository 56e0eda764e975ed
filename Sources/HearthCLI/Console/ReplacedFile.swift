import DocumentModel
import Foundation

/// A file that is written beside the one it will replace, so that the old one stays until the new one is whole and on disk.
struct ReplacedFile {
    /// Where to write.
    let descriptor: Int32
    private let path: String
    private let temporaryPath: String

    /// Begins a new version of the file at `path`, which need not exist.
    ///
    /// - Throws: `.invalidArgument` when there is something that is no regular file, `.unavailable` when the folder can't be
    ///   written to.
    init(at path: String) throws(StatusError) {
        // A symbolic link stays a link: what it points to is replaced.
        self.path =
            realpath(path, nil).map { resolved in
                defer { free(resolved) }
                return String(cString: resolved)
            } ?? path
        var status = stat()
        let exists = stat(self.path, &status) == 0
        guard !exists || status.st_mode & S_IFMT == S_IFREG else {
            throw StatusError(.invalidArgument, "\(path) is not a regular file, and only such a one can be replaced.")
        }
        temporaryPath = "\(self.path).\(UInt64.random(in: 0...UInt64.max)).tmp"
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? status.st_mode & 0o777 : 0o666)
        guard descriptor >= 0 else {
            throw SystemError.status(errno, "Can't create \(temporaryPath)")
        }
    }

    /// Puts the new version in the place of the old one, durably.
    func commit() throws(StatusError) {
        guard fsync(descriptor) == 0, close(descriptor) == 0, rename(temporaryPath, path) == 0 else {
            let error = SystemError.status(errno, "\(path) is as it was before, since the new version can't be finished")
            unlink(temporaryPath)
            throw error
        }
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Forgets the new version.
    func discard() {
        close(descriptor)
        unlink(temporaryPath)
    }
}
