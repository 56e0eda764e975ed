package import DocumentModel
package import JSONRPC
package import StrictJSON

/// A query that is watched: which documents are in its result, and what of them the watcher gets.
///
/// A class, because it is large and goes wherever its streams go.
package final class WatchedQuery: Sendable {
    /// The query for whole documents, since its fields say whether a document is in the result and where.
    let query: NormalizedQuery
    /// A text that no other query has, however its JSON is laid out.
    let canonicalText: UTF8Key
    /// Whether the watcher is told places in the result: the query has an order, or shows only part of what it finds.
    let isRanked: Bool
    /// The fields that are wanted, in order; all when nil.
    private let projection: [FieldPath]?

    /// Takes a query.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a query that breaks a rule, and for a search for vectors: those can't be
    ///   watched, as in Firestore.
    package init(_ query: Query, canonicalText: UTF8Key) throws(StatusError) {
        guard query.vectorSearch == nil else {
            throw StatusError(
                .invalidArgument,
                "A query with findNearest can't be watched. Watch it without, and search again when something has changed."
            )
        }
        let normalized = try NormalizedQuery(query)
        projection = normalized.projection
        self.query = normalized.withoutProjection
        isRanked = !query.orders.isEmpty || query.limit != nil || query.offset > 0
        self.canonicalText = canonicalText
    }

    /// All documents in the collections of an ID, wherever they are.
    package convenience init(collectionGroup id: CollectionID) throws(StatusError) {
        try self.init(Query(.collectionGroup(id, below: nil)), canonicalText: UTF8Key("collectionGroup=" + id.key.string))
    }

    /// Where a document stands in the result; nil when the query does not find it.
    func key(of document: EncodedDocument) throws(StatusError) -> NormalizedQuery.SortKey? {
        guard query.source.contains(document.path) else { return nil }
        return query.match(try document.decoded().fields, at: document.path)
    }

    /// A document as the watcher gets it.
    func shaped(_ document: EncodedDocument) throws(StatusError) -> EncodedDocument {
        guard let projection else { return document }
        return try document.masked(projection)
    }
}

extension WatchedQuery: Hashable {
    package static func == (left: WatchedQuery, right: WatchedQuery) -> Bool {
        left.canonicalText == right.canonicalText
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalText)
    }
}

extension WatchedQuery: ParameterValue {
    package static var schema: JSONSchema {
        .object(QueryParameters.all.map(JSONSchema.Property.init))
    }

    package convenience init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        let query = try QueryParameters.query(from: Arguments(object: json, at: location, declared: QueryParameters.all))
        var canonical = JSONWriter()
        canonical.sorted(json)
        let text = UTF8Key("query=" + String(decoding: canonical.finish(), as: UTF8.self))
        do throws(StatusError) {
            try self.init(query, canonicalText: text)
        } catch {
            throw RPCError(error, at: location)
        }
    }
}

extension JSONWriter {
    /// Writes a value with the members of its objects in the order of their names, and each value in one spelling.
    fileprivate mutating func sorted(_ node: JSONNode) {
        if let members = node.members {
            beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                key(name)
                sorted(value)
            }
            endObject()
        } else if let elements = node.elements {
            beginArray()
            for element in elements { sorted(element) }
            endArray()
        } else if let text = node.string {
            string(text)
        } else if case .integer(let number) = node.number {
            integer(number)
        } else if case .double(let number) = node.number {
            double(number)
        } else {
            raw(node.rawBytes)
        }
    }
}
