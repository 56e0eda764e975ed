package import DocumentModel
internal import UTF8Text

/// The reads of a transaction, for optimistic concurrency control.
///
/// A transaction takes no locks. It records its reads, and ``DocumentStore/commit(_:validating:by:)`` rejects its writes when any
/// of them has changed since. Committed transactions are therefore serializable.
///
/// Documents are compared by update time; collections, and other query scopes, by the last commit that changed a document in
/// them. A file that is edited between the read and the commit gets another update time, but changes no scope: the edit is
/// detected if the document was read by its path.
package struct ReadSet: Sendable {
    /// The update times of the documents that were read; `nil` for a document that did not exist.
    package private(set) var documents: [DocumentPath: Timestamp?] = [:]
    /// The scopes that were listed or queried, each with the last commit before the read.
    package private(set) var scopes: [ReadScope: SequenceNumber] = [:]
    /// The damaged files that the commit may overwrite.
    package private(set) var damagedFiles: [DocumentPath: DamagedFileSnapshot] = [:]
    /// The ``StorePosition/restartCount`` of the log that the scopes were read from; `nil` if it is that of the commit.
    package var restartCount: Int?
    /// A document that changed between two reads of this transaction.
    private var inconsistentRead: DocumentPath?

    /// True for the reads of a transaction that has ended.
    private var isOfEndedTransaction = false

    /// Creates an empty set, which is always valid.
    package init() {}

    /// The reads of a transaction that has ended, which are never valid: only a commit that has been made before is answered.
    package static var ended: ReadSet {
        var reads = ReadSet()
        reads.isOfEndedTransaction = true
        return reads
    }

    /// Creates the set of some documents and scopes that were read.
    package init(documents: [DocumentPath: Timestamp?], scopes: [ReadScope: SequenceNumber]) {
        self.documents = documents
        self.scopes = scopes
    }

    /// True if ``documents`` and ``scopes`` are all that is to be validated, so that any server can do so.
    package var consistsOfVersions: Bool { inconsistentRead == nil && !isOfEndedTransaction && damagedFiles.isEmpty }

    /// The number of documents and scopes.
    package var count: Int { documents.count + scopes.count }

    /// Records a document that was read; `nil` if it did not exist.
    package mutating func recordRead(_ document: EncodedDocument?, at path: DocumentPath) {
        if let known = documents[path], known != document?.updateTime { inconsistentRead = path }
        documents[path] = .some(document?.updateTime)
    }

    /// Permits the commit to overwrite the damaged file of a document, provided that the file has not changed.
    package mutating func permitOverwriting(_ damagedFile: DamagedFileSnapshot, at path: DocumentPath) {
        damagedFiles[path] = damagedFile
    }

    /// Records that a collection was listed, in whole or in part.
    ///
    /// - Parameter sequence: ``StorePosition/lastSequence`` before the listing began.
    package mutating func recordListing(of collection: CollectionPath, after sequence: SequenceNumber) {
        record(.collection(collection), after: sequence)
    }

    /// Records that a query was run, whatever its results.
    ///
    /// - Parameter sequence: The last commit in the query's snapshot, or an earlier one.
    package mutating func recordQuery(of source: StructuredQuery.Source, after sequence: SequenceNumber) {
        switch source {
        case .collection(let collection): record(.collection(collection), after: sequence)
        case .collectionGroup(let id, _): record(.group(id), after: sequence)
        case .descendants: record(.database, after: sequence)
        }
    }

    private mutating func record(_ scope: ReadScope, after sequence: SequenceNumber) {
        scopes[scope] = min(sequence, scopes[scope] ?? sequence)
    }

    /// Checks that nothing that was read has changed.
    ///
    /// - Parameters:
    ///   - updateTime: Returns a document's update time; `nil` if the document does not exist.
    ///   - lastChange: Returns the last commit that changed a document in a scope, or a later one when that is not known.
    /// - Throws: `.aborted` with the path of the changed document or scope.
    package func validate(
        updateTime: (DocumentPath) throws(StatusError) -> Timestamp?,
        lastChange: (ReadScope) -> SequenceNumber
    ) throws(StatusError) {
        if isOfEndedTransaction {
            throw StatusError(
                .aborted,
                "The transaction has ended, or never began. Nothing was written. Retry the whole transaction."
            )
        }
        if let inconsistentRead {
            throw Self.changed("document \(Excerpt(inconsistentRead.string))", inconsistentRead.string)
        }
        for (path, time) in documents where try updateTime(path) != time {
            throw Self.changed("document \(Excerpt(path.string))", path.string)
        }
        for (scope, sequence) in scopes where lastChange(scope) > sequence { throw Self.changed(scope.text, scope.path) }
    }

    private static func changed(_ what: String, _ path: String?) -> StatusError {
        StatusError(
            .aborted,
            "The \(what) was changed by another commit after this transaction read it. Nothing was written. "
                + "Retry the whole transaction.",
            path: path
        )
    }
}

/// A set of documents that a listing or query reads.
package enum ReadScope: Hashable, Sendable {
    /// The documents of a collection.
    case collection(CollectionPath)
    /// The documents of a collection group.
    case group(CollectionID)
    /// All documents.
    case database

    fileprivate var text: String {
        switch self {
        case .collection(let path): "collection \(Excerpt(path.string))"
        case .group(let id): "collection group \(Excerpt(id.key.string))"
        case .database: "database"
        }
    }

    fileprivate var path: String? {
        switch self {
        case .collection(let path): path.string
        case .group(let id): id.key.string
        case .database: nil
        }
    }
}

extension DocumentPath {
    /// The scopes that contain the document, except the database.
    package var scopes: [ReadScope] { [.collection(collection), .group(collection.id)] }
}
