internal import DocumentModel
internal import Glibc

// A file that can't be replaced after its commit has become durable stops all writes. So what the system tells beforehand is
// asked beforehand, and only the commits concerned are refused.

extension DocumentInstaller {
    /// Makes sure, before anything is durable, that a document's file can be removed as far as that can be told.
    mutating func checkIsRemovable(_ path: DocumentPath) throws(StatusError) {
        guard let folder = try existingFolder(of: path.collection) else { return }
        do throws(SystemError) {
            try folder.descriptor.checkIsWritable(".")
            try Self.checkIsChangeable(files.folders.naming.file(of: path.id).text, in: folder.descriptor)
        } catch {
            throw refusal(error, "remove", path)
        }
    }

    /// Makes sure that a file is not marked as one that is never to change.
    ///
    /// - Returns: Whether there is such a file.
    @discardableResult
    static func checkIsChangeable(_ name: String, in folder: borrowing FileDescriptor) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try folder.checkIsWritable(name)
            return true
        } catch {
            if error.isUnchangeable { throw error }
            // Other marks of a file don't matter where it is replaced.
            return !error.isNotFound
        }
    }

    /// The error for a write that can't be taken, because of one file or folder where others can.
    func refusal(_ error: SystemError, _ action: String, _ path: DocumentPath) -> StatusError {
        refusal(error.status(action, files.place(of: path)), of: path)
    }

    /// The same error with the document concerned. What may not be changed is no better when it is tried again.
    func refusal(_ error: StatusError, of path: DocumentPath) -> StatusError {
        var status = error
        if error.forbidsOneFile { status.code = .failedPrecondition }
        status.path = path.string
        return status
    }
}
