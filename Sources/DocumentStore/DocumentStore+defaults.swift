package import DocumentModel

extension DocumentStore {
    /// Nothing, as of a store without a disk.
    package func storage() async -> StorageReport? { nil }

    /// None, as of a store without files.
    package func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]? { nil }

    /// The document at `path` as it is now.
    package func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        try await document(at: path, readTime: nil)
    }

    /// The documents of a collection as they are now.
    package func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool
    ) async throws(StatusError) -> DocumentPage {
        try await documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: includingMissing,
            readTime: nil
        )
    }

    /// The collections directly under a document, or at the top, as they are now.
    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int
    ) async throws(StatusError) -> CollectionPage {
        try await collections(under: parent, after: after, limit: limit, readTime: nil)
    }

    /// Applies all the writes, in order and at one time, or none of them.
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet()
    ) async throws(StatusError) -> CommitResult {
        try await commit(writes, validating: reads, by: nil)
    }
}
