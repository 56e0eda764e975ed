import DocumentModel
import DocumentStore
import HearthService

/// All documents of a collection or below a document, however deep, as far as the caller may see them.
///
/// Documents come before those below them, so that nothing happens below one that has to stay. Below what can't be read nothing is
/// visited: whoever mends it finds all of it.
struct Subtree: Sendable {
    let context: ServiceContext

    /// Some documents of one collection, and what lies among them or below and can't be read.
    struct Part: Sendable {
        var documents: [EncodedDocument] = []
        var damaged: [StatusError] = []
    }

    /// Takes a part; gives the documents below which to go on, or nil to stop.
    typealias Visitor = (Part) async throws(StatusError) -> [DocumentPath]?

    private static let pageSize: PageSize = 200

    /// Visits the documents of a collection that exist, page by page, and those below them as `body` says. Below what doesn't exist
    /// itself all are visited.
    ///
    /// - Returns: Whether it has not been stopped.
    @discardableResult
    func visit(_ collection: CollectionPath, _ body: Visitor) async throws(StatusError) -> Bool {
        var after: DocumentID?
        repeat {
            let page = try await ListDocuments.call(
                .init(collection: collection, pageSize: Self.pageSize, after: after, showMissing: true),
                in: context
            )
            var part = Part(damaged: page.damaged.map(\.error))
            var next: [DocumentPath] = []
            for entry in page.documents {
                switch entry {
                case .document(let document): part.documents.append(document)
                case .missing(let path): next.append(path)
                }
            }
            if !part.documents.isEmpty || !part.damaged.isEmpty {
                guard let chosen = try await body(part) else { return false }
                next += chosen
            }
            for path in next { guard try await visit(below: path, body) else { return false } }
            after = page.next
        } while after != nil
        return true
    }

    /// Visits the documents below a document, as ``visit(_:_:)`` does.
    @discardableResult
    func visit(below document: DocumentPath, _ body: Visitor) async throws(StatusError) -> Bool {
        var after: CollectionID?
        repeat {
            let page = try await ListCollections.call(.init(parent: document, pageSize: Self.pageSize, after: after), in: context)
            if !page.damaged.isEmpty { guard try await body(Part(damaged: page.damaged)) != nil else { return false } }
            for id in page.collections { guard try await visit(document.collection(id), body) else { return false } }
            after = page.next
        } while after != nil
        return true
    }
}
