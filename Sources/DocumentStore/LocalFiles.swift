package import DocumentModel

/// The files of a store with one file per document, on a disk of this machine: a capability that only some drivers offer.
///
/// ``DocumentStore/localFiles`` returns it, subject to the same restrictions as the store.
package protocol LocalFiles: Sendable {
    /// Returns the raw contents of the file of the document at `path`, intact or damaged; `nil` if there is no file.
    ///
    /// - Throws: `.dataLoss` when the path is not a regular file; `.unavailable` when it cannot currently be read.
    func contents(of path: DocumentPath) async throws(StatusError) -> [UInt8]?

    /// Returns the store's disk usage; `nil` if it may not be disclosed or cannot be determined.
    ///
    /// Takes a few system calls, regardless of the size of the store.
    func storage() async -> StorageReport?

    /// Returns the edits of files that have not become commits and need a person. Reads the files of those.
    ///
    /// - Parameter limit: The maximum number of problems.
    func problems(limit: Int) async throws(StatusError) -> FileProblemReport

    /// Takes the files that are missing for deletions, however many they are.
    ///
    /// Returns at once; their commits follow.
    ///
    /// - Throws: `.failedPrecondition` if edits of files do not become commits.
    func acceptRemovedFiles() async throws(StatusError)
}
