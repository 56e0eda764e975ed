package import DocumentModel
package import UTF8Text

/// The storage of the sync engine: remote documents, targets, and each user's queue and overlays.
///
/// All calls are synchronous. The engine makes them inside ``transaction(_:)``.
///
/// A persistent cache may keep the queue and the overlays, which must not be lost, apart from documents and targets, which can be read
/// again. Each of both parts is then stored as a whole, and a crash may leave a transaction stored in the first part alone. A transaction
/// that removes a batch stores documents and targets first: the batch may be applied to the documents and still be queued, so that it is
/// sent again, which its number makes harmless. Any other transaction stores queue and overlays first: the overlays may belong to
/// documents that the next remote event brings again, since the token is not stored either.
///
/// Numbers that the cache assigns (batches, targets, changes, uses) grow and are never assigned twice, also across restarts.
package protocol LocalCache: Sendable {
    /// True if documents are evicted with the last target, view or batch that needs them, and targets with their last listener.
    var isEager: Bool { get }

    /// Runs `body` in a transaction, which an error rolls back. A transaction that changes nothing writes nothing.
    mutating func transaction<Result>(
        _ body: (inout Self) throws(StatusError) -> Result
    ) throws(StatusError) -> Result

    /// Makes the queue durable: after it returns, a power cut loses none of the transactions so far.
    ///
    /// One call serves any number of transactions.
    mutating func synchronize() throws(StatusError)

    // MARK: Remote documents

    /// The number of the last transaction that saved documents; 0 before the first.
    var lastChange: ChangeNumber { get throws(StatusError) }

    /// Returns the cached documents at some paths.
    func documents(at paths: Set<DocumentPath>) throws(StatusError) -> [DocumentPath: RemoteDocument]

    /// Calls `visit` with the existing documents of a source that were saved after a change, or with a part of them, in any order.
    ///
    /// - Parameters:
    ///   - position: The position at which the last call ended; `nil` to begin. What is saved later may not be visited.
    ///   - maximumCount: The number of documents to read. A cache that need not decode them may read all.
    ///   - selector: The condition on documents to visit. A cache that need not decode them may visit others as well.
    /// - Returns: The number of documents that were read, and the position of the last one; `nil` at the end.
    func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        from position: ScanPosition?,
        maximumCount: Int,
        selecting selector: DocumentSelector?,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) -> (count: Int, position: ScanPosition?)

    /// Saves documents with the next change number.
    mutating func save(_ documents: [RemoteDocument]) throws(StatusError)

    /// Removes documents, as if they had never been cached.
    mutating func removeDocuments(at paths: Set<DocumentPath>) throws(StatusError)

    // MARK: Queue

    /// Returns the state of a user's queue. A new queue gets an identity.
    mutating func queueState(for user: UserID) throws(StatusError) -> QueueState

    /// Appends a batch to a user's queue, with the next number.
    mutating func appendBatch(
        _ writes: [Write],
        baseValues: [MutationBatch.BaseValue],
        at localTime: Timestamp,
        for user: UserID
    ) throws(StatusError) -> MutationBatch

    /// Returns the first batch after a number; `nil` if there is none.
    func batch(after number: BatchNumber, for user: UserID) throws(StatusError) -> MutationBatch?

    /// Calls `visit` with the batches that write some of the documents, in order of their numbers.
    func visitBatches(
        affecting paths: Set<DocumentPath>,
        for user: UserID,
        _ visit: (MutationBatch) throws(StatusError) -> Void
    ) throws(StatusError)

    /// Returns the documents that a user's queued batches write.
    func queuedPaths(for user: UserID) throws(StatusError) -> Set<DocumentPath>

    /// Returns those of the documents that a user's queued batches write.
    func queuedPaths(among paths: Set<DocumentPath>, for user: UserID) throws(StatusError) -> Set<DocumentPath>

    /// Records that batches may have been sent, up to a number.
    mutating func recordSent(through number: BatchNumber, for user: UserID) throws(StatusError)

    /// Replaces the identity of a user's queue.
    mutating func save(_ identity: QueueIdentity, for user: UserID) throws(StatusError)

    /// Removes a batch whose answer has been processed, and records that it is decided.
    mutating func removeBatch(_ number: BatchNumber, for user: UserID) throws(StatusError)

    /// Adds a rejected batch to those that the application has not seen, and drops the oldest ones beyond
    /// ``RejectedBatch/maximumCount``.
    mutating func append(_ rejected: RejectedBatch, for user: UserID) throws(StatusError)

    /// Returns the rejected batches that the application has not seen, in order of their numbers.
    func rejectedBatches(for user: UserID) throws(StatusError) -> [RejectedBatch]

    /// Removes a rejected batch, which the application has seen.
    mutating func removeRejectedBatch(_ number: BatchNumber, for user: UserID) throws(StatusError)

    // MARK: Overlays

    /// Returns a user's overlays of some documents.
    func overlays(at paths: Set<DocumentPath>, for user: UserID) throws(StatusError) -> [DocumentPath: Overlay]

    /// Returns a user's overlays of the documents of a source.
    func overlays(in source: StructuredQuery.Source, for user: UserID) throws(StatusError) -> [DocumentPath: Overlay]

    /// Saves overlays.
    mutating func save(_ overlays: [Overlay], for user: UserID) throws(StatusError)

    /// Removes overlays.
    mutating func removeOverlays(at paths: Set<DocumentPath>, for user: UserID) throws(StatusError)

    /// The user whose overlays belong to the cached documents; `nil` if there is none, since the cache has begun anew.
    ///
    /// Those of other users may have been computed when other documents existed. Stored with the documents.
    var overlayUser: UserID? { get throws(StatusError) }

    /// Records whose overlays belong to the cached documents.
    mutating func save(overlayUser: UserID) throws(StatusError)

    // MARK: The server's clock

    /// The knowledge of the server's clock that was saved last.
    var serverClock: ServerClock { get throws(StatusError) }

    /// Saves the knowledge of the server's clock.
    mutating func save(_ clock: ServerClock) throws(StatusError)

    // MARK: Targets

    /// Returns a cached target.
    func target(_ target: SyncTarget) throws(StatusError) -> CachedTarget?

    /// Adds a target.
    mutating func addTarget(_ target: SyncTarget) throws(StatusError) -> CachedTarget

    /// Saves the state of a target.
    mutating func save(_ target: CachedTarget) throws(StatusError)

    /// Removes a target and its keys.
    mutating func removeTarget(_ id: TargetID) throws(StatusError)

    /// Returns the documents of a target.
    func keys(of id: TargetID) throws(StatusError) -> Set<DocumentPath>

    /// Adds documents to a target, and removes others.
    mutating func updateKeys(
        of id: TargetID,
        adding added: Set<DocumentPath>,
        removing removed: Set<DocumentPath>
    ) throws(StatusError)

    // MARK: Named queries

    /// Returns a named query; `nil` if there is none with the name.
    func namedQuery(_ name: UTF8Key) throws(StatusError) -> NamedQuery?

    /// Saves a named query in place of another one with its name.
    mutating func save(_ query: NamedQuery) throws(StatusError)

    // MARK: Indexes

    /// Returns whether an index exists and has all entries, so that it can be scanned.
    func isComplete(_ index: FieldIndex) throws(StatusError) -> Bool

    /// True if there are indexes without some of their entries, or removed ones with some.
    var hasIncompleteIndexes: Bool { get throws(StatusError) }

    /// Calls `visit` with the existing documents in a range of an index, in the order of their keys, until it returns false.
    func visitDocuments(
        in scan: IndexScan,
        _ visit: (RemoteDocument) throws(StatusError) -> Bool
    ) throws(StatusError)

    /// Adds the indexes of a query without entries, unless they exist. The entries of documents that are saved later are kept up to
    /// date.
    ///
    /// Of more than ``FieldIndex/maximumCount``, the least recently used ones are removed, others first.
    mutating func addIndexes(_ indexes: Set<FieldIndex>) throws(StatusError)

    /// Records that a query has used indexes.
    mutating func touch(_ indexes: Set<FieldIndex>) throws(StatusError)

    /// Adds the entries of some documents to an incomplete index, or deletes some entries of a removed one.
    ///
    /// - Returns: False if all indexes are complete, and nothing is left of removed ones.
    mutating func fillIndexes(maximumCount: Int) throws(StatusError) -> Bool

    /// Removes all indexes. Their entries may be deleted later.
    mutating func removeIndexes() throws(StatusError)

    // MARK: Eviction

    /// Returns the next number of a use.
    mutating func nextUse() throws(StatusError) -> UseNumber

    /// The approximate size of the documents in bytes.
    var byteCount: Int { get throws(StatusError) }

    /// Records the last use of documents.
    mutating func touch(_ paths: Set<DocumentPath>, use: UseNumber) throws(StatusError)

    /// Returns those of the documents that are in no target and in no queue.
    func unreferenced(_ paths: Set<DocumentPath>) throws(StatusError) -> Set<DocumentPath>

    /// Returns the use number up to which the given part of the targets and unreferenced documents was last used.
    func useNumber(atFraction fraction: Double, maximumCount: Int) throws(StatusError) -> UseNumber?

    /// Returns the IDs of the targets that were last used at or before a use.
    func targets(usedThrough use: UseNumber) throws(StatusError) -> [TargetID]

    /// Returns the unreferenced documents that were last used at or before a use.
    func unreferencedDocuments(usedThrough use: UseNumber) throws(StatusError) -> Set<DocumentPath>
}

extension LocalCache {
    /// Calls `visit` with all existing documents of a source that were saved after a change, in any order.
    package func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) {
        _ = try visitDocuments(in: source, after: change, from: nil, maximumCount: .max, selecting: nil, visit)
    }
}

/// A cache without indexes.
extension LocalCache {
    /// Returns false.
    package func isComplete(_ index: FieldIndex) -> Bool { false }

    /// False.
    package var hasIncompleteIndexes: Bool { false }

    /// Does nothing.
    package func visitDocuments(in scan: IndexScan, _ visit: (RemoteDocument) throws(StatusError) -> Bool) {}

    /// Does nothing.
    package func addIndexes(_ indexes: Set<FieldIndex>) {}

    /// Does nothing.
    package func touch(_ indexes: Set<FieldIndex>) {}

    /// Returns false.
    package func fillIndexes(maximumCount: Int) -> Bool { false }

    /// Does nothing.
    package func removeIndexes() {}
}
