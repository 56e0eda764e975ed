package import DocumentModel
package import UTF8Text

/// The identity of a target in the cache. IDs grow, and a target keeps its ID until it is collected.
package typealias TargetID = UInt64

/// A set of documents in the cache: a document or the result of a query, which the server keeps a client up to date on, or the
/// documents of a bundle.
///
/// A resume token belongs to one target, so equal results should be one target: a limit to the last documents is the limit to the
/// first ones in reverse order, and an offset is part of the limit, since the skipped documents must be known to skip them.
package enum SyncTarget: Hashable, Sendable {
    /// A document.
    case document(DocumentPath)
    /// The result of a query, which has no offset, and no limit to the last documents.
    case query(StructuredQuery)
    /// The documents of a bundle, by its ID. No stream keeps them up to date.
    case bundle(UTF8Key)

    /// Creates the target of a query.
    init(_ query: StructuredQuery) {
        var query = query
        switch query.limit {
        case .first(let count):
            query.limit = .first(query.offset.addingSaturated(count))
        case .last(let count):
            query.limit = .first(query.offset.addingSaturated(count))
            query.orders = query.orders.map { order in
                StructuredQuery.Order(order.key, order.direction == .ascending ? .descending : .ascending)
            }
            (query.start, query.end) = (query.end, query.start)
        case nil:
            break
        }
        query.offset = 0
        self = .query(query)
    }

    /// Returns whether the target can contain a document.
    func covers(_ path: DocumentPath) -> Bool {
        switch self {
        case .document(let document): path == document
        case .query(let query): query.source.contains(path)
        case .bundle: false
        }
    }

    /// Returns whether the target can contain one of some documents, or, at a lower cost, of their collections.
    func mayCover(_ documents: [DocumentPath: LocalDocument?], in collections: Set<CollectionPath>) -> Bool {
        switch self {
        case .document(let path): documents[path] != nil
        case .query(let query):
            if case .collection(let collection) = query.source {
                collections.contains(collection)
            } else {
                documents.keys.contains { query.source.contains($0) }
            }
        case .bundle: false
        }
    }
}

extension Int {
    /// Returns the sum of two numbers that are not negative, or the greatest integer if that is less.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, isOverflow) = addingReportingOverflow(other)
        return isOverflow ? .max : sum
    }
}
