import Cryptography
package import DocumentModel
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// A query, prepared for matching commits against it.
///
/// A class, since the value is large and shared by the parts of a stream.
package final class PreparedWatchQuery: Sendable {
    /// The query without its projection, since matching requires complete documents.
    let query: NormalizedQuery
    /// Text that uniquely identifies the query, independent of the layout of its JSON.
    let canonicalText: UTF8Key
    /// True if the order of the result is tracked: the query has a limit or offset, or change frames have indexes in the result.
    let isOrdered: Bool
    /// True if every commit that touches the source may change the result, which only another run of the query shows.
    var isRunAtEveryCommit: Bool { query.offset > 0 }
    /// True if documents are returned with some of their fields only.
    var hasProjection: Bool { projection != nil }
    /// The fields to return, in order, or `nil` for all.
    private let projection: [FieldPath]?
    /// The top-level fields that matching needs; `nil` for all.
    private let requiredNames: [UTF8Key]?

    /// Prepares a query for watch streams.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the query is invalid or a vector search, which cannot be watched, as in
    ///   Firestore.
    package convenience init(_ query: StructuredQuery, canonicalText: UTF8Key) throws(StatusError) {
        guard query.vectorSearch == nil else { throw .vectorSearchWatched }
        self.init(
            try NormalizedQuery(query),
            isOrdered: !query.orders.isEmpty || query.limit != nil || query.offset > 0,
            canonicalText: canonicalText
        )
    }

    /// Prepares a query for listeners, which sort the documents themselves.
    ///
    /// - Parameter text: The query as its clients write it: equal only for equal queries.
    /// - Throws: ``StatusCode/invalidArgument`` for a vector search.
    package convenience init(listener query: NormalizedQuery, text: some Collection<UInt8>) throws(StatusError) {
        guard query.vectorSearch == nil else { throw .vectorSearchWatched }
        let digest = SHA256.digest(of: Array(text))
        self.init(
            query,
            isOrdered: query.limit != nil || query.offset > 0,
            canonicalText: UTF8Key("listener=" + Base64.url.encode(Array(digest)))
        )
    }

    private convenience init(_ normalized: NormalizedQuery, isOrdered: Bool, canonicalText: UTF8Key) {
        self.init(normalized.withoutProjection, normalized.projection, isOrdered: isOrdered, canonicalText: canonicalText)
    }

    private init(_ query: NormalizedQuery, _ projection: [FieldPath]?, isOrdered: Bool, canonicalText: UTF8Key) {
        self.query = query
        self.projection = projection
        requiredNames = query.requiredNames
        self.isOrdered = isOrdered
        self.canonicalText = canonicalText
    }

    /// The query for listeners, which sort the documents themselves.
    var forListeners: PreparedWatchQuery {
        let isOrdered = query.limit != nil || query.offset > 0
        return isOrdered == self.isOrdered
            ? self : PreparedWatchQuery(query, projection, isOrdered: isOrdered, canonicalText: canonicalText)
    }

    /// Prepares a query of all documents of a collection group.
    package convenience init(collectionGroup id: CollectionID) throws(StatusError) {
        try self.init(
            StructuredQuery(.collectionGroup(id, below: nil)),
            canonicalText: UTF8Key("collectionGroup=" + id.key.string)
        )
    }

    /// Returns the sort key of a document, or `nil` if it does not match the query.
    func sortKey(of document: EncodedDocument) throws(StatusError) -> NormalizedQuery.SortKey? {
        guard query.source.contains(document.path) else { return nil }
        let fields = if let requiredNames { try document.fields(named: requiredNames) } else { try document.decoded().fields }
        return query.match(fields, at: document.path)
    }

    /// Returns a document with the fields of the projection.
    func projected(_ document: EncodedDocument) throws(StatusError) -> EncodedDocument {
        guard let projection else { return document }
        return try document.masked(projection)
    }
}

extension StatusError {
    fileprivate static var vectorSearchWatched: StatusError {
        StatusError(
            .invalidArgument,
            "A query with findNearest cannot be watched. Watch it without findNearest, and run the search again after changes."
        )
    }
}

extension PreparedWatchQuery: Hashable {
    package static func == (left: PreparedWatchQuery, right: PreparedWatchQuery) -> Bool {
        left.canonicalText == right.canonicalText
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(canonicalText)
    }
}

extension PreparedWatchQuery: ParameterValue {
    package static var schema: JSONSchema {
        .object(QueryParameters.all.map(JSONSchema.Property.init))
    }

    package convenience init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        let query = try QueryParameters.query(from: Arguments(object: json, at: location, declared: QueryParameters.all))
        var writer = JSONWriter()
        writer.writeCanonical(json)
        let text = UTF8Key("query=" + String(decoding: writer.finish(), as: UTF8.self))
        do throws(StatusError) {
            try self.init(query, canonicalText: text)
        } catch {
            throw RPCError(error, at: location)
        }
    }
}

extension JSONWriter {
    /// Writes a value in canonical form: object members sorted by name, and numbers and strings in one representation.
    fileprivate mutating func writeCanonical(_ node: JSONNode) {
        if let members = node.members {
            beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                key(name)
                writeCanonical(value)
            }
            endObject()
        } else if let elements = node.elements {
            beginArray()
            for element in elements { writeCanonical(element) }
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
