internal import DocumentModel
internal import Glibc
internal import StorageIO

// A file that cannot be replaced after its commit became durable blocks all writes. Therefore permissions and attributes are
// checked before the commit, and only the affected commits are rejected.

extension DocumentFileWriter {
    /// Checks before the commit whether a document's file can be removed, as far as the file system reports it.
    mutating func checkIsRemovable(_ path: DocumentPath) throws(StatusError) {
        guard let folder = try existingFolder(of: path.collection) else { return }
        try checkIsChangeable(path, in: folder, to: "remove")
    }

    /// Checks before the commit whether a document's file can be written later, creating its folder as needed.
    mutating func checkIsWritable(_ path: DocumentPath) throws(StatusError) {
        try checkIsChangeable(path, in: openOrCreateFolder(of: path), to: "write")
    }

    /// - Parameter action: The verb for the error.
    private func checkIsChangeable(
        _ path: DocumentPath,
        in folder: SharedFileDescriptor,
        to action: String
    ) throws(StatusError) {
        do throws(FileSystemError) {
            try folder.descriptor.checkIsWritable(".")
            try Self.checkIsMutable(files.folders.naming.file(of: path.id).text, in: folder.descriptor)
        } catch {
            throw writeError(error, action, path)
        }
    }

    /// Checks that a file is not immutable.
    ///
    /// - Returns: `true` if the file exists.
    @discardableResult
    static func checkIsMutable(_ name: String, in folder: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try folder.checkIsWritable(name)
            return true
        } catch {
            if error.isImmutable { throw error }
            // Other permissions of a file don't matter if it is replaced.
            return !error.isNotFound
        }
    }

    /// Returns the error for a write that is rejected because of a single file or folder.
    func writeError(_ error: FileSystemError, _ action: String, _ path: DocumentPath) -> StatusError {
        writeError(error.status(action, files.filePath(of: path)), of: path)
    }

    /// Returns the error with the document's path and file, as `.failedPrecondition` if a retry cannot help.
    func writeError(_ error: StatusError, of path: DocumentPath) -> StatusError {
        var status = error
        if error.preventsSingleFileAccess { status.code = .failedPrecondition }
        status.path = path.string
        status.file = status.file ?? StatusError.FileLocation(path: files.filePath(of: path))
        return status
    }
}
