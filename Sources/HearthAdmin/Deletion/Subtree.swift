import DocumentModel
import DocumentStore
import HearthAPI

/// A traversal of all documents in a collection or below a document, at any depth, that the caller may read.
///
/// A document is visited before its subcollections, so that nothing is deleted below a document that is kept. Subcollections of
/// an unreadable document are not visited; they remain intact until it is repaired.
struct Subtree: Sendable {
    let context: ServiceContext

    /// Documents of one collection, and the errors of unreadable documents in it.
    struct Batch: Sendable {
        var documents: [EncodedDocument] = []
        var damaged: [StatusError] = []
    }

    /// Handles a batch and returns the documents to descend into; `nil` stops the traversal.
    typealias Visitor = (Batch) async throws(StatusError) -> [DocumentPath]?

    private static let pageSize: PageSize = 500
    /// The number of concurrent lists of subcollections.
    private static let width = 16

    /// Visits the existing documents of a collection page by page, and the subcollections that the visitor selects.
    ///
    /// Subcollections of missing documents are always visited.
    ///
    /// - Returns: Whether the traversal was completed.
    @discardableResult
    func visit(_ collection: CollectionPath, _ visitor: Visitor) async throws(StatusError) -> Bool {
        var after: DocumentPath.ID?
        repeat {
            let page = try await ListDocuments.call(
                .init(collection: collection, pageSize: Self.pageSize, after: after, showMissing: true),
                in: context
            )
            var batch = Batch(damaged: page.damaged)
            var next: [DocumentPath] = []
            for entry in page.documents {
                switch entry {
                case .document(let document): batch.documents.append(document)
                case .missing(let path): next.append(path)
                }
            }
            if !batch.documents.isEmpty || !batch.damaged.isEmpty {
                guard let selected = try await visitor(batch) else { return false }
                next += selected
            }
            // Few documents have subcollections, so most of the time is that of the lists.
            let lists = await next.concurrentMap(width: Self.width) { [context] path in
                await Result(catching: { () async throws(StatusError) in
                    try await ListCollections.call(.init(parent: path, pageSize: Self.pageSize), in: context)
                })
            }
            for (path, list) in zip(next, lists) {
                guard try await visit(below: path, firstPage: list.get(), visitor) else { return false }
            }
            after = page.next
        } while after != nil
        return true
    }

    /// Visits the documents below a document in the same way as ``visit(_:_:)``.
    @discardableResult
    func visit(below document: DocumentPath, _ visitor: Visitor) async throws(StatusError) -> Bool {
        let page = try await ListCollections.call(.init(parent: document, pageSize: Self.pageSize), in: context)
        return try await visit(below: document, firstPage: page, visitor)
    }

    private func visit(
        below document: DocumentPath,
        firstPage: CollectionPage,
        _ visitor: Visitor
    ) async throws(StatusError) -> Bool {
        var next: CollectionPage? = firstPage
        while let page = next {
            if !page.damaged.isEmpty { guard try await visitor(Batch(damaged: page.damaged)) != nil else { return false } }
            for id in page.collections { guard try await visit(document.collection(id), visitor) else { return false } }
            next = nil
            guard let after = page.next else { break }
            next = try await ListCollections.call(.init(parent: document, pageSize: Self.pageSize, after: after), in: context)
        }
        return true
    }
}
