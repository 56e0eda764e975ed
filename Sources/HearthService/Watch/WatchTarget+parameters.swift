import DocumentModel
package import JSONRPC
package import StrictJSON

/// The parameters that say what is watched.
extension WatchTarget {
    static let document = Parameter<DocumentPath?>("document", "Watch this document.")
    static let collection = Parameter<CollectionPath?>("collection", "Watch the documents of this collection.")
    static let collectionGroup = Parameter<CollectionID?>(
        "collectionGroup",
        "Watch the documents of all collections of this ID, wherever they are."
    )
    static let query = Parameter<WatchedQuery?>(
        "query",
        "Watch the result of a query, which is stated as for query.run; in a URL as JSON."
    )

    /// What is watched is given by exactly one of these.
    package static let parameters: [any ParameterDescription] = [document, collection, collectionGroup, query]

    /// The names of those that are objects.
    package static let jsonParameters = [query.name]

    /// Reads what is to be watched.
    package init(from arguments: Arguments) throws(RPCError) {
        var targets: [WatchTarget] = []
        if let path = try arguments[Self.document] { targets.append(.document(path)) }
        if let path = try arguments[Self.collection] { targets.append(.collection(path)) }
        if let id = try arguments[Self.collectionGroup] {
            let location = arguments.location(of: Self.collectionGroup)
            targets.append(.query(try location.model { () throws(StatusError) in try WatchedQuery(collectionGroup: id) }))
        }
        if let query = try arguments[Self.query] { targets.append(.query(query)) }
        guard let target = targets.first, targets.count == 1 else {
            throw .invalidParams(
                at: "\(arguments.location(of: Self.document))",
                reason: "expected exactly one of document, collection, collectionGroup and query"
            )
        }
        self = target
    }
}
