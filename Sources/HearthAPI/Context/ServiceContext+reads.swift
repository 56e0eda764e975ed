package import DocumentModel
package import DocumentStore

/// Reads of the selected database that have no counterpart among the JSON-RPC methods, for Swift code in the server.
extension ServiceContext {
    /// Returns a position that includes every commit whose documents the caller may have seen.
    package func safePosition() async throws(StatusError) -> StorePosition {
        try await store.safePosition()
    }

    /// Returns the current document at a path, or `nil` if there is none.
    ///
    /// - Throws: ``StatusCode/dataLoss`` with the location in the file if the document is damaged.
    package func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        try authorize(.reader)
        return try await store.document(at: path)
    }

    /// Returns the commits after a sequence number, and waits for more if there are none.
    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        store.commits(after: sequence)
    }

    /// Returns the unmodified contents of a document's file, or `nil` if there is none.
    package func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        try authorize(.reader)
        return try await store.localFiles?.contents(of: path)
    }
}
