package import DocumentModel

/// What a transaction has read, so that its commit can make sure that all of it still holds.
///
/// Nothing is locked while a transaction runs. It notes what it reads, and ``DocumentStore/commit(_:validating:)`` refuses its
/// writes when any of that has changed since. So all transactions that commit could have run one after another.
///
/// Documents are compared by their update times, collections by the last commit that changed a document in them. What people
/// edit in the files between the reads and the commit changes neither, and so is not noticed.
package struct ReadSet: Sendable {
    /// The documents that were read, each with its update time; nil where there was none.
    package private(set) var documents: [DocumentPath: Timestamp?] = [:]
    /// The collections that were listed, each with the last commit before.
    package private(set) var collections: [CollectionPath: SequenceNumber] = [:]
    /// A document that was read twice and had changed in between.
    private var contradiction: DocumentPath?

    /// Makes an empty set, which always holds.
    package init() {}

    /// How many documents and collections are noted.
    package var count: Int { documents.count + collections.count }

    /// Notes a document as it was read; nil when there was none.
    package mutating func note(_ document: EncodedDocument?, at path: DocumentPath) {
        if let known = documents[path], known != document?.updateTime { contradiction = path }
        documents[path] = .some(document?.updateTime)
    }

    /// Notes that a collection was listed, all of it or a part.
    ///
    /// - Parameter sequence: ``StorePosition/lastSequence`` as it was before the listing began.
    package mutating func noteListing(of collection: CollectionPath, after sequence: SequenceNumber) {
        collections[collection] = min(sequence, collections[collection] ?? sequence)
    }

    /// Compares what was read with what is.
    ///
    /// - Parameters:
    ///   - updateTime: Gives a document's update time; nil when there is no document.
    ///   - lastChange: Gives the last commit that changed a document in a collection; a later one where that is not known.
    /// - Throws: `.aborted` with the path of what has changed.
    package func validate(
        updateTime: (DocumentPath) throws(StatusError) -> Timestamp?,
        lastChange: (CollectionPath) -> SequenceNumber
    ) throws(StatusError) {
        if let contradiction { throw Self.changed("document", contradiction.string) }
        for (path, time) in documents where try updateTime(path) != time { throw Self.changed("document", path.string) }
        for (path, sequence) in collections where lastChange(path) > sequence { throw Self.changed("collection", path.string) }
    }

    private static func changed(_ what: String, _ path: String) -> StatusError {
        StatusError(
            .aborted,
            "The \(what) \(Excerpt(path)) was changed by somebody else after this transaction had read it, so nothing was written. "
                + "Run the whole transaction again.",
            path: path
        )
    }
}
