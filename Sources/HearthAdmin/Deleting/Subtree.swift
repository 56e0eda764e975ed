import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// All documents of a collection or below a document, however deep, as far as the caller may see them.
struct Subtree: Sendable {
    let context: ServiceContext

    private static let pageSize: PageSize = 200

    /// How many documents there are in a collection with all that is below; at most `limit` are counted.
    func count(in collection: CollectionPath, atMost limit: Int) async throws(StatusError) -> Int {
        var count = 0
        try await visit(collection) { paths throws(StatusError) in
            count += paths.count
            return count < limit
        }
        return min(count, limit)
    }

    /// How many documents there are below a document; at most `limit` are counted.
    func count(below document: DocumentPath, atMost limit: Int) async throws(StatusError) -> Int {
        var count = 0
        try await visit(below: document) { paths throws(StatusError) in
            count += paths.count
            return count < limit
        }
        return min(count, limit)
    }

    /// Visits the documents that exist, page by page, those below a document before it.
    ///
    /// - Parameter body: Takes some documents; gives whether to go on.
    @discardableResult
    func visit(
        _ collection: CollectionPath,
        _ body: ([DocumentPath]) async throws(StatusError) -> Bool
    ) async throws(StatusError) -> Bool {
        var after: DocumentID?
        repeat {
            let page = try await ListDocuments.call(
                .init(collection: collection, pageSize: Self.pageSize, after: after, showMissing: true),
                in: context
            )
            var existing: [DocumentPath] = []
            for entry in page.documents {
                switch entry {
                case .document(let document):
                    existing.append(document.path)
                    guard try await visit(below: document.path, body) else { return false }
                case .missing(let path):
                    guard try await visit(below: path, body) else { return false }
                }
            }
            if !existing.isEmpty { guard try await body(existing) else { return false } }
            after = page.next
        } while after != nil
        return true
    }

    /// Visits the documents below a document, as ``visit(_:_:)`` does.
    @discardableResult
    func visit(
        below document: DocumentPath,
        _ body: ([DocumentPath]) async throws(StatusError) -> Bool
    ) async throws(StatusError) -> Bool {
        var after: CollectionID?
        repeat {
            let page = try await ListCollections.call(.init(parent: document, pageSize: Self.pageSize, after: after), in: context)
            for id in page.collections {
                guard try await visit(document.collection(id), body) else { return false }
            }
            after = page.next
        } while after != nil
        return true
    }
}
