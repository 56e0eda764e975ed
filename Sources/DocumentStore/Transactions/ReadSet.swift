package import DocumentModel
internal import StrictJSON

/// What a transaction has read, so that its commit can make sure that all of it still holds.
///
/// Nothing is locked while a transaction runs. It notes what it reads, and ``DocumentStore/commit(_:validating:)`` refuses its
/// writes when any of that has changed since. So all transactions that commit could have run one after another.
///
/// Documents are compared by their update times, collections and what else was searched by the last commit that changed a
/// document in them. What people edit in the files between the reads and the commit changes neither, and so is not noticed.
package struct ReadSet: Sendable {
    /// The documents that were read, each with its update time; nil where there was none.
    package private(set) var documents: [DocumentPath: Timestamp?] = [:]
    /// What was listed or searched, each with the last commit before.
    package private(set) var scopes: [ReadScope: SequenceNumber] = [:]
    /// The documents whose files were seen to be damaged, and which are to be written in spite of that.
    package private(set) var damage: [DocumentPath: SeenDamage] = [:]
    /// A document that was read twice and had changed in between.
    private var contradiction: DocumentPath?

    /// Makes an empty set, which always holds.
    package init() {}

    /// How many documents and scopes are noted.
    package var count: Int { documents.count + scopes.count }

    /// Notes a document as it was read; nil when there was none.
    package mutating func note(_ document: EncodedDocument?, at path: DocumentPath) {
        if let known = documents[path], known != document?.updateTime { contradiction = path }
        documents[path] = .some(document?.updateTime)
    }

    /// Notes that the file of a document is damaged, and may be replaced as long as it is as it was seen.
    package mutating func note(_ damage: SeenDamage, at path: DocumentPath) {
        self.damage[path] = damage
    }

    /// Notes that a collection was listed, all of it or a part.
    ///
    /// - Parameter sequence: ``StorePosition/lastSequence`` as it was before the listing began.
    package mutating func noteListing(of collection: CollectionPath, after sequence: SequenceNumber) {
        note(.collection(collection), after: sequence)
    }

    /// Notes that documents were searched, whatever was found.
    ///
    /// - Parameter sequence: The last commit that the search shows, or one before it.
    package mutating func noteQuery(of source: Query.Source, after sequence: SequenceNumber) {
        switch source {
        case .collection(let collection): note(.collection(collection), after: sequence)
        case .collectionGroup(let id, _): note(.group(id), after: sequence)
        case .descendants: note(.everything, after: sequence)
        }
    }

    private mutating func note(_ scope: ReadScope, after sequence: SequenceNumber) {
        scopes[scope] = min(sequence, scopes[scope] ?? sequence)
    }

    /// Compares what was read with what is.
    ///
    /// - Parameters:
    ///   - updateTime: Gives a document's update time; nil when there is no document.
    ///   - lastChange: Gives the last commit that changed a document in a scope; a later one where that is not known.
    /// - Throws: `.aborted` with the path of what has changed.
    package func validate(
        updateTime: (DocumentPath) throws(StatusError) -> Timestamp?,
        lastChange: (ReadScope) -> SequenceNumber
    ) throws(StatusError) {
        if let contradiction { throw Self.changed("document \(Excerpt(contradiction.string))", contradiction.string) }
        for (path, time) in documents where try updateTime(path) != time {
            throw Self.changed("document \(Excerpt(path.string))", path.string)
        }
        for (scope, sequence) in scopes where lastChange(scope) > sequence { throw Self.changed(scope.text, scope.path) }
    }

    private static func changed(_ what: String, _ path: String?) -> StatusError {
        StatusError(
            .aborted,
            "The \(what) was changed by somebody else after this transaction had read it, so nothing was written. "
                + "Run the whole transaction again.",
            path: path
        )
    }
}

/// Documents among which something was searched.
package enum ReadScope: Hashable, Sendable {
    /// Those of a collection.
    case collection(CollectionPath)
    /// Those of all collections with an ID.
    case group(CollectionID)
    /// All.
    case everything

    fileprivate var text: String {
        switch self {
        case .collection(let path): "collection \(Excerpt(path.string))"
        case .group(let id): "collection group \(Excerpt(id.key.string))"
        case .everything: "database"
        }
    }

    fileprivate var path: String? {
        switch self {
        case .collection(let path): path.string
        case .group(let id): id.key.string
        case .everything: nil
        }
    }
}
