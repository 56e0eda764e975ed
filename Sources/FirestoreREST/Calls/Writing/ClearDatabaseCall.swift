package import DocumentModel
import DocumentStore
import FirestoreAPI
package import FirestoreMessages
package import HearthAPI

/// The Firestore emulator's call that deletes all documents between tests,
/// `DELETE /emulator/v1/projects/PROJECT/databases/DATABASE/documents`.
package struct ClearDatabaseCall: Sendable {
    /// The database to clear.
    package let database: DatabaseName

    /// The number of documents deleted per commit; larger commits would delay all others.
    private static let batchSize = 500

    /// Parses a request.
    ///
    /// - Parameter path: The percent-encoded path.
    /// - Throws: ``StatusCode/notFound`` for any other path.
    package init(path: some Collection<UInt8>) throws(StatusError) {
        let requestPath = try RequestPath(path: path.dropFirst("/emulator".utf8.count))
        guard requestPath.segments.isEmpty else {
            throw StatusError(.notFound, "No resource at this path. The path to delete all documents ends with /documents.")
        }
        database = requestPath.database
    }

    /// Deletes all documents in batches. Not atomic.
    package func run(in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        try context.authorize(.writer)
        let query = try NormalizedQuery(
            StructuredQuery(.descendants(of: nil), limit: .first(Self.batchSize), projection: [.documentName])
        )
        while true {
            let found = try await RunQuery.call(.init(query), in: context).documents
            guard !found.isEmpty else { return .empty }
            try await delete(found.map(\.path)[...], in: context)
        }
    }

    /// Deletes documents in one commit, or in several if they are too many for one.
    private func delete(_ paths: ArraySlice<DocumentPath>, in context: ServiceContext) async throws(StatusError) {
        do throws(StatusError) {
            _ = try await CommitWrites.call(.init(writes: paths.map { .delete($0) }), in: context)
        } catch {
            guard error.code == .invalidArgument, paths.count > 1 else { throw error }
            let middle = paths.startIndex + paths.count / 2
            try await delete(paths[..<middle], in: context)
            try await delete(paths[middle...], in: context)
        }
    }
}
