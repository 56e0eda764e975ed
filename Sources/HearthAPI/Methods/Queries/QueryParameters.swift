package import DocumentModel
import HearthWire
package import JSONRPC
import UTF8Text

/// The parameters of a query, which query methods combine with their own.
///
/// ```json
/// {"collection": "books",
///  "where": {"and": [{"field": "author", "op": "==", "value": "Douglas Adams"},
///                    {"field": "numberOfPages", "op": ">", "value": 200}]},
///  "orderBy": [{"field": "numberOfPages", "direction": "desc"}],
///  "startAfter": {"values": [816]},
///  "limit": 20}
/// ```
///
/// Geo points are filtered by `{"field": "location", "op": "near", "value": {"center": {"$geoPoint": …}, "radius": 5000}}` with
/// the radius in meters, and by `"op": "within"` with `{"southWest": {"$geoPoint": …}, "northEast": {"$geoPoint": …}}`. They are
/// sorted by distance with `{"field": "location", "distanceFrom": {"$geoPoint": …}}` in `orderBy`.
package enum QueryParameters {
    static let parent = Parameter<DocumentPath?>(
        QueryKeys.parent,
        "The ancestor document of the queried collections. Default: the root of the database."
    )
    static let collection = Parameter<CollectionPath?>(
        QueryKeys.collection,
        "The path of the collection, relative to the parent."
    )
    static let collectionGroup = Parameter<CollectionID?>(
        QueryKeys.collectionGroup,
        "Instead of collection: queries all collections with this ID, at any depth below the parent."
    )
    static let filter = Parameter<FilterParameter?>(QueryKeys.filter, "The filter that documents must match.")
    static let orderBy = Parameter<[OrderParameter]?>(
        QueryKeys.orderBy,
        "The sort order. Documents that lack any of the fields are not in the result. Fields with inequality filters and the "
            + "document name are appended implicitly."
    )
    static let startAt = Parameter<CursorParameter?>(QueryKeys.startAt, "Starts at these values, including documents at them.")
    static let startAfter = Parameter<CursorParameter?>(QueryKeys.startAfter, "Starts after these values.")
    static let endAt = Parameter<CursorParameter?>(QueryKeys.endAt, "Ends at these values, including documents at them.")
    static let endBefore = Parameter<CursorParameter?>(QueryKeys.endBefore, "Ends before these values.")
    static let offset = Parameter<Int?>(QueryKeys.offset, "The number of documents to skip.")
    static let limit = Parameter<Int?>(QueryKeys.limit, "The maximum number of documents.")
    static let select = Parameter<[FieldPath]?>(
        QueryKeys.select,
        "The fields to return: all if empty or absent, none for `__name__` alone."
    )
    static let findNearest = Parameter<VectorSearchParameter?>(
        QueryKeys.findNearest,
        "Returns the matching documents with the nearest vectors, nearest first."
    )
    static let limitToLast = Parameter<Int?>(
        QueryKeys.limitToLast,
        "Instead of limit: the maximum number of documents from the end. Requires orderBy."
    )
    static let allDescendants = Parameter<Bool?>(
        QueryKeys.allDescendants,
        "Instead of collection: true to query all documents at any depth below the parent."
    )

    /// The query parameters in positional order, before those of the method.
    package static let all: [any ParameterDescription] = [
        parent, collection, collectionGroup, filter, orderBy, startAt, startAfter, endAt, endBefore, offset, limit, select,
        findNearest, limitToLast, allDescendants,
    ]

    /// Decodes the query of a call.
    package static func query(from arguments: Arguments) throws(RPCError) -> StructuredQuery {
        let limit = try arguments.atMostOne(Self.limit, limitToLast) {
            .first($0)
        } second: {
            StructuredQuery.Limit.last($0)
        }
        return StructuredQuery(
            try source(from: arguments),
            where: try arguments[filter]?.filter,
            orders: (try arguments[orderBy] ?? []).map(\.order),
            start: try arguments.atMostOne(startAt, startAfter) {
                $0.cursor(isInclusive: true)
            } second: {
                $0.cursor(isInclusive: false)
            },
            end: try arguments.atMostOne(endAt, endBefore) {
                $0.cursor(isInclusive: true)
            } second: {
                $0.cursor(isInclusive: false)
            },
            offset: try arguments[offset] ?? 0,
            limit: limit,
            projection: try arguments[select] ?? [],
            vectorSearch: try arguments[findNearest]?.search
        )
    }

    /// Decodes and normalizes the query of a call.
    ///
    /// - Parameter aggregations: The aggregations over its results, or `nil` for a query of documents.
    package static func normalized(
        from arguments: Arguments,
        aggregating aggregations: NormalizedAggregations? = nil
    ) throws(RPCError) -> NormalizedQuery {
        let query = try query(from: arguments)
        return try arguments.location.locatingErrors { () throws(StatusError) in
            try NormalizedQuery(query, aggregating: aggregations?.fields ?? [])
        }
    }

    private static func source(from arguments: Arguments) throws(RPCError) -> StructuredQuery.Source {
        let parent = try arguments[Self.parent]
        let allDescendants = try arguments[Self.allDescendants] ?? false
        switch (try arguments[collection], try arguments[collectionGroup], allDescendants) {
        case (let collection?, nil, false):
            guard let parent else { return .collection(collection) }
            return .collection(
                try arguments.location(of: Self.collection).locatingErrors { () throws(StatusError) in
                    try CollectionPath(parent.string + "/" + collection.string)
                }
            )
        case (nil, let id?, false):
            return .collectionGroup(id, below: parent)
        case (nil, nil, true):
            return .descendants(of: parent)
        default:
            throw .invalidParams(
                at: "\(arguments.location(of: Self.collection))",
                reason: "expected exactly one of collection, collectionGroup and allDescendants"
            )
        }
    }
}

extension Arguments {
    /// Decodes one of two mutually exclusive parameters.
    fileprivate func atMostOne<First, Second, Result>(
        _ first: Parameter<First?>,
        _ second: Parameter<Second?>,
        first transformFirst: (First) -> Result,
        second transformSecond: (Second) -> Result
    ) throws(RPCError) -> Result? {
        switch (try self[first], try self[second]) {
        case (nil, nil): nil
        case (let value?, nil): transformFirst(value)
        case (nil, let value?): transformSecond(value)
        case (.some, .some):
            throw .invalidParams(
                at: "\(location(of: second))",
                reason: "expected at most one of \(first.name) and \(second.name)"
            )
        }
    }
}

/// A query cursor: `{values: […]}`.
struct CursorParameter: ObjectParameter {
    private let values: [Value]

    static let schemaName = "Cursor"
    static let values = Parameter<[Value]>(
        CursorKeys.values,
        "The values of the first orderBy fields. For `__name__`, a reference, or a document ID as a string."
    )
    static let members: [any ParameterDescription] = [values]

    init(from members: Arguments) throws(RPCError) {
        values = try members[Self.values]
    }

    /// Returns the cursor, including or excluding documents at its values.
    func cursor(isInclusive: Bool) -> StructuredQuery.Cursor {
        StructuredQuery.Cursor(values, isInclusive: isInclusive)
    }
}
