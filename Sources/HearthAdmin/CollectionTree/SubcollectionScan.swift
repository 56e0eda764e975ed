import DocumentModel
import DocumentStore
import HearthAPI

/// The search for subcollections among the documents in and below a collection.
///
/// No index lists the collections of a database, so they are found by the names of documents in them. Documents and subcollections
/// are in one order, in which the descendants of a document follow it.
struct SubcollectionScan: Sendable {
    /// The subcollections, at any depth, in path order.
    private(set) var subcollections: [CollectionPath] = []
    /// The last document that was examined, after which the search can be continued; `nil` if there are no more.
    private(set) var last: DocumentPath?

    /// Examines documents in and below a collection, with one query that reads at most `limit` of them.
    ///
    /// - Parameter previous: The document after which to continue. If it is in a subcollection, the rest of that is skipped.
    init(
        below collection: CollectionPath,
        after previous: DocumentPath? = nil,
        limit: Int,
        in context: ServiceContext
    ) async throws(StatusError) {
        let range = DescendantNameRange(collection)
        var conditions = [Self.start(below: collection, after: previous) ?? .greaterOrEqual(.reference(range.first))]
        if let end = range.end { conditions.append(.less(.reference(end))) }
        let query = StructuredQuery(
            .descendants(of: nil),
            where: .and(conditions.map { .field(.documentName, $0) }),
            limit: .first(limit),
            projection: [.documentName]
        )
        let result = try await RunQuery.call(.init(NormalizedQuery(query)), in: context)
        if result.documents.count == limit { last = result.documents.last?.path }
        for document in result.documents {
            let path = document.path.collection
            if path != collection, path != subcollections.last, !subcollections.contains(path) { subcollections.append(path) }
        }
    }

    /// True if all documents were examined.
    var isComplete: Bool { last == nil }

    /// Returns the collections directly below the documents of a collection, including those of which only descendants were found.
    func children(of collection: CollectionPath) -> [CollectionPath] {
        var children: [CollectionPath] = []
        for path in subcollections {
            if let child = path.ancestor(below: collection), child != children.last { children.append(child) }
        }
        return children
    }

    /// Returns the condition on the names after a document.
    private static func start(below collection: CollectionPath, after previous: DocumentPath?) -> Condition? {
        guard let previous else { return nil }
        guard let child = previous.collection.ancestor(below: collection), let end = DescendantNameRange(child).end else {
            return .greater(.reference(previous))
        }
        return .greaterOrEqual(.reference(end))
    }
}

extension CollectionPath {
    /// Returns the subcollection of a document in `collection` that is on this path or is this path; `nil` if there is none.
    func ancestor(below collection: CollectionPath) -> CollectionPath? {
        var current = self
        while let parent = current.parent {
            if parent.collection == collection { return current }
            current = parent.collection
        }
        return nil
    }
}
