package import DocumentModel
package import JSONRPC
import StrictJSON

/// The parameters that state a query, beside those of the method that runs it.
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
/// Places are filtered by `{"field": "location", "op": "near", "value": {"center": {"$geoPoint": …}, "radius": 5000}}` with the
/// radius in metres, and `"op": "within"` with `{"southWest": {"$geoPoint": …}, "northEast": {"$geoPoint": …}}`; they are sorted
/// by distance with `{"field": "location", "distanceFrom": {"$geoPoint": …}}` among the orders.
package enum QueryParameters {
    static let parent = Parameter<DocumentPath?>("parent", "The document below which the query looks; the root when absent.")
    static let collection = Parameter<CollectionPath?>("collection", "The collection to query, by its path below the parent.")
    static let collectionGroup = Parameter<CollectionID?>(
        "collectionGroup",
        "Instead of a collection: all collections of this ID, at any depth below the parent."
    )
    static let filter = Parameter<FilterParameter?>("where", "What the documents must fulfil.")
    static let orderBy = Parameter<[OrderParameter]?>(
        "orderBy",
        "How the documents are sorted. Documents without one of these fields are not in the result. Fields with an inequality "
            + "and the document's name are added."
    )
    static let startAt = Parameter<CursorParameter?>("startAt", "Begin with the documents at these values.")
    static let startAfter = Parameter<CursorParameter?>("startAfter", "Begin with the documents after these values.")
    static let endAt = Parameter<CursorParameter?>("endAt", "End with the documents at these values.")
    static let endBefore = Parameter<CursorParameter?>("endBefore", "End with the documents before these values.")
    static let offset = Parameter<Int?>("offset", "How many documents to pass over.")
    static let limit = Parameter<Int?>("limit", "How many documents to give.")
    static let select = Parameter<[FieldPath]?>(
        "select",
        "Give only these fields: all when empty or absent, none for just `__name__`."
    )
    static let findNearest = Parameter<VectorSearchParameter?>(
        "findNearest",
        "Of the documents that the query finds, those whose vector is closest to this one, closest first."
    )
    static let limitToLast = Parameter<Int?>(
        "limitToLast",
        "Instead of a limit: how many documents to give from the end; needs an order."
    )
    static let allDescendants = Parameter<Bool?>(
        "allDescendants",
        "true, instead of a collection: all documents at any depth below the parent."
    )

    /// What methods that query take before their own parameters.
    package static let all: [any ParameterDescription] = [
        parent, collection, collectionGroup, filter, orderBy, startAt, startAfter, endAt, endBefore, offset, limit, select,
        findNearest, limitToLast, allDescendants,
    ]

    /// Reads a query from a call.
    package static func query(from arguments: Arguments) throws(RPCError) -> Query {
        let limit = try arguments.atMostOne(Self.limit, limitToLast) {
            .first($0)
        } second: {
            Query.Limit.last($0)
        }
        return Query(
            try source(from: arguments),
            where: try arguments[filter]?.filter,
            orders: (try arguments[orderBy] ?? []).map(\.order),
            start: try arguments.atMostOne(startAt, startAfter) {
                $0.cursor(true)
            } second: {
                $0.cursor(false)
            },
            end: try arguments.atMostOne(endAt, endBefore) {
                $0.cursor(true)
            } second: {
                $0.cursor(false)
            },
            offset: try arguments[offset] ?? 0,
            limit: limit,
            projection: try arguments[select] ?? [],
            vectorSearch: try arguments[findNearest]?.search
        )
    }

    /// Reads a query from a call, and checks it by the model's rules.
    ///
    /// - Parameter aggregations: What is made of the documents that it finds; nil when they are wanted themselves.
    package static func normalized(
        from arguments: Arguments,
        aggregating aggregations: NormalizedAggregations? = nil
    ) throws(RPCError) -> NormalizedQuery {
        let query = try query(from: arguments)
        return try arguments.location.model { () throws(StatusError) in
            try NormalizedQuery(query, aggregating: aggregations?.fields ?? [])
        }
    }

    private static func source(from arguments: Arguments) throws(RPCError) -> Query.Source {
        let parent = try arguments[Self.parent]
        let allDescendants = try arguments[Self.allDescendants] ?? false
        switch (try arguments[collection], try arguments[collectionGroup], allDescendants) {
        case (let collection?, nil, false):
            guard let parent else { return .collection(collection) }
            return .collection(
                try arguments.location(of: Self.collection).model { () throws(StatusError) in
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
    /// What one of two parameters makes that exclude each other.
    fileprivate func atMostOne<First, Second, Result>(
        _ first: Parameter<First?>,
        _ second: Parameter<Second?>,
        first takeFirst: (First) -> Result,
        second takeSecond: (Second) -> Result
    ) throws(RPCError) -> Result? {
        switch (try self[first], try self[second]) {
        case (nil, nil): nil
        case (let value?, nil): takeFirst(value)
        case (nil, let value?): takeSecond(value)
        case (.some, .some):
            throw .invalidParams(
                at: "\(location(of: second))",
                reason: "expected at most one of \(first.name) and \(second.name)"
            )
        }
    }
}
