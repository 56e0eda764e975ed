package import DocumentModel
import DocumentStore
package import HearthService
import StrictJSON

/// Deletes all documents, as Firestore's emulator does between tests when it is asked with
/// `DELETE /emulator/v1/projects/PROJECT/databases/DATABASE/documents`.
package struct DatabaseClearing: Sendable {
    /// The database that is cleared.
    package let database: DatabaseName

    /// How many documents go at once: a commit of more would hold up all others.
    private static let step = 500

    /// - Parameter path: The path as it was sent.
    /// - Throws: ``StatusCode/notFound`` for another path.
    package init(path: some Collection<UInt8>) throws(StatusError) {
        let address = try Address(path: path.dropFirst("/emulator".utf8.count), hasVerb: false)
        guard address.segments.isEmpty else {
            throw StatusError(.notFound, "There is nothing at this path. All documents are deleted at …/documents.")
        }
        database = address.database
    }

    /// Deletes them, a number at a time.
    package func run(in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        try context.authorize(DeleteDocument.right)
        let query = try NormalizedQuery(
            Query(.descendants(of: nil), limit: .first(Self.step), projection: [.documentName])
        )
        while true {
            let found = try await RunQuery.call(.init(query), in: context).documents
            guard !found.isEmpty else { return .empty }
            _ = try await CommitWrites.call(.init(writes: found.map { .delete($0.path) }), in: context)
        }
    }
}
