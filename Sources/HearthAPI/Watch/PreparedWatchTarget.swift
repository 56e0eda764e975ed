package import DocumentModel
import HearthWire
package import JSONRPC
package import UTF8Text

/// The target of a watch stream.
package enum PreparedWatchTarget: Hashable, Sendable {
    /// A document, whether or not it exists.
    case document(DocumentPath)
    /// The documents of a collection, without subcollections.
    case collection(CollectionPath)
    /// The results of a query.
    case query(PreparedWatchQuery)

    /// Returns whether a document with this path can belong to the target.
    package func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .document(let document): path == document
        case .collection(let collection): path.collection == collection
        case .query(let watched): watched.query.source.contains(path)
        }
    }

    /// Requires that a caller has access to the target.
    func requireAccess(for caller: Caller) throws(StatusError) {
        switch self {
        case .document(let path): try caller.requireAccess(to: path)
        case .collection(let path): try caller.requireAccess(to: path)
        case .query(let watched): try caller.requireAccess(to: watched.query.source)
        }
    }

    /// The target, as rules see it.
    var forRules: TargetAccess.Target {
        get throws(StatusError) {
            switch self {
            case .document(let path): .documents([path])
            case .collection(let path): .query(try NormalizedQuery(StructuredQuery(.collection(path))))
            case .query(let watched): .query(watched.query)
            }
        }
    }

    /// Text that uniquely identifies the target.
    var canonicalText: String {
        switch self {
        case .document(let path): "document=" + path.string
        case .collection(let path): "collection=" + path.string
        case .query(let watched): watched.canonicalText.string
        }
    }
}

/// The parameters of a target.
extension PreparedWatchTarget {
    static let document = Parameter<DocumentPath?>(WatchTargetKeys.document, "The document to watch.")
    static let collection = Parameter<CollectionPath?>(WatchTargetKeys.collection, "The collection to watch.")
    static let collectionGroup = Parameter<CollectionID?>(
        WatchTargetKeys.collectionGroup,
        "The ID of the collections to watch, at any depth."
    )
    static let query = Parameter<PreparedWatchQuery?>(
        WatchTargetKeys.query,
        "The query to watch, with the parameters of query.run; in a URL as JSON."
    )

    /// The parameters, exactly one of which is required.
    package static let parameters: [any ParameterDescription] = [document, collection, collectionGroup, query]

    /// The names of the parameters that are objects.
    package static let jsonParameters = [query.name]

    /// Decodes the target of a call.
    package init(from arguments: Arguments) throws(RPCError) {
        var targets: [PreparedWatchTarget] = []
        if let path = try arguments[Self.document] { targets.append(.document(path)) }
        if let path = try arguments[Self.collection] { targets.append(.collection(path)) }
        if let id = try arguments[Self.collectionGroup] {
            let location = arguments.location(of: Self.collectionGroup)
            targets.append(
                .query(try location.locatingErrors { () throws(StatusError) in try PreparedWatchQuery(collectionGroup: id) })
            )
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
