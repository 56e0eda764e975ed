package import DocumentModel

/// A document database: documents in collections, and the log of the commits that changed them.
///
/// All layers above the store use this protocol, and may assume neither files nor a single process.
///
/// - An acknowledged commit is durable and visible to every later read.
/// - A commit is atomic. A read of one document returns its state before or after a commit, never in between.
/// - Commits are totally ordered: sequence numbers are dense, and commit times strictly increase.
///
/// A read with a `readTime` is a point-in-time read: it returns the documents as of the commits up to that time, and returns the
/// same result for as long as those commits are retained. A read without one returns the current documents. A change without a
/// commit, such as an edited file, has no time: a document that no commit has changed since the read time is returned as it is
/// now. A point-in-time read throws `.failedPrecondition` when the time is before the oldest retained commit, and
/// `.invalidArgument` when it is in the future.
package protocol DocumentStore: Sendable {
    /// Returns the document at `path`; `nil` if it does not exist.
    ///
    /// - Throws: `.dataLoss` with the file location when the document is damaged; `.unavailable` when it cannot currently be
    ///   read.
    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument?

    /// Returns a page of a collection's documents in ID order.
    ///
    /// - Parameters:
    ///   - collection: The collection; one that does not exist is empty.
    ///   - after: The ID after which the page starts; `nil` for the first page.
    ///   - limit: The maximum number of entries, including damaged ones; at least 1.
    ///   - includingMissing: True to include documents that do not exist but have subcollections.
    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage

    /// Returns a page of the collections directly under a document, or of the root collections when `parent` is `nil`, in ID
    /// order.
    ///
    /// A collection exists when a document exists in it or anywhere below it. An unreadable document counts, so that the
    /// collection that reports it can be found.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage

    /// Runs a query.
    ///
    /// The results are a snapshot as of one time, which they state. The snapshot includes every commit acknowledged or read
    /// before the call.
    ///
    /// - Parameter maximumBytes: The maximum total size of the documents.
    /// - Throws: `.resourceExhausted` when the documents are larger, or the sort exceeds its memory limit; `.unavailable` when
    ///   queries cannot currently be run; `.cancelled` when the task is cancelled.
    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults

    /// Computes aggregations over the documents that match a query created with ``NormalizedQuery/init(_:aggregating:)``.
    ///
    /// A vector search in the query is ignored.
    ///
    /// - Throws: The errors of ``run(_:maximumBytes:readTime:)``.
    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults

    /// Returns the number of documents in a collection, or in the database when `collection` is `nil`, and their size.
    ///
    /// Takes constant time, because the totals are maintained by every commit. Damaged documents are not counted.
    ///
    /// - Throws: `.unavailable` when queries cannot currently be run.
    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize

    /// Returns the composite indexes and single-field exemptions, with the progress of their builds.
    func indexes() async -> IndexReport

    /// Changes the index definitions. The change is durable when this returns; the build runs in the background.
    ///
    /// - Throws: `.alreadyExists`, `.notFound`; `.resourceExhausted` when there are too many definitions; `.dataLoss` when the
    ///   stored definitions are damaged.
    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport

    /// Returns the quota of the database.
    func quota() async throws(StatusError) -> DatabaseQuota

    /// Replaces the quota of the database. Durable when this returns. What the database already holds stays.
    ///
    /// - Throws: `.unimplemented` for a store without quotas; `.resourceExhausted` and `.unavailable` when it cannot be stored.
    func setQuota(_ quota: DatabaseQuota) async throws(StatusError)

    /// Returns a page of a document's retained versions, newest first.
    ///
    /// Each version was written by a commit. The oldest may be older than the oldest retained commit, whose before-image it is.
    /// Edits to the file are not versions.
    ///
    /// - Parameters:
    ///   - before: The exclusive upper bound of the versions' times; `nil` for the first page.
    ///   - limit: The maximum number of versions; at least 1.
    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage

    /// Commits writes atomically.
    ///
    /// The writes are applied in order, each to the result of the previous ones. When this returns, the commit is durable and
    /// visible. When it throws, nothing has changed.
    ///
    /// - Parameters:
    ///   - writes: The writes. The reads are validated even if there are none.
    ///   - reads: The reads to validate: none of them may have been changed by another commit since. Also names the damaged files
    ///     that may be overwritten.
    ///   - author: The author, for ``history(of:before:limit:)``, and the authorization of the commit; `nil` for the server itself.
    ///   - identity: The identity by which a commit that is sent again is recognized. It is answered as the first time, also after a
    ///     restart, and nothing is applied; ``CommitResult/isReplayed`` says so. `nil` for a commit that is applied each time.
    /// - Throws: The error of the authorization; `.aborted` when something in `reads` has changed; the error of the first write that cannot be applied, with
    ///   its index (`.notFound`, `.alreadyExists`, `.failedPrecondition`, `.invalidArgument`); `.dataLoss` when a written
    ///   document is damaged; `.resourceExhausted` when the disk is full; `.unavailable` when the store does not accept writes;
    ///   an error with ``StatusError/identityMismatch`` when the identity does not follow the client's last one or is forgotten;
    ///   `.invalidArgument` when a commit with other writes had the same identity.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult

    /// Returns the commits after `sequence`, in order and without gaps: recent ones from memory, older ones from
    /// the stored commit log.
    ///
    /// The sequence waits for new commits. It ends when its task is cancelled or the store is closed. It throws `.outOfRange`
    /// when commits after `sequence` are no longer retained, or when `sequence` is in the future, that is, after
    /// ``safePosition()``. A sequence number that ``safePosition()`` has reached but ``position`` has not is awaited. It throws
    /// `.unavailable` instead of waiting while new commits cannot become known.
    func commits(after sequence: SequenceNumber) -> CommitSequence

    /// Calls `body` once, as soon as ``commits(after:)`` would return a commit, throw or end; immediately if that is already the
    /// case.
    ///
    /// Needs no task, so it suits many waiters. `body` must not block.
    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification

    /// The last known position of the commit log. It may lag behind the last commit, but is never ahead of it.
    ///
    /// Suitable for reports and estimates. To determine whether a client's token or read time is in the future, or no longer
    /// retained, use ``safePosition()`` instead.
    var position: StorePosition { get }

    /// The restart count of ``position``. Costs less than the whole position: streams compare it at each commit.
    var restartCount: Int { get }

    /// Returns a position that includes every commit that was acknowledged, or that a read may have returned, before the call.
    ///
    /// A commit becomes readable shortly before it is published in the commit log; this waits for the publication. If several
    /// servers share a database, this also covers the commits of the others.
    ///
    /// - Throws: `.cancelled` when the task is cancelled.
    func safePosition() async throws(StatusError) -> StorePosition

    /// The error with which writes fail while the store does not accept them; `nil` while it does.
    ///
    /// Takes a few system calls, regardless of the size of the store.
    var writeBlockedReason: StatusError? { get async }

    /// The store's files; `nil` for a store without files on this machine.
    ///
    /// - Throws: An error when the store cannot currently be used.
    var localFiles: (any LocalFiles)? { get throws(StatusError) }
}

extension DocumentStore {
    /// `nil`, as for a store without files.
    package var localFiles: (any LocalFiles)? {
        get throws(StatusError) { nil }
    }

    /// Returns whether a time is later than this machine's clock and the last commit: commits up to that time are still possible.
    package func isInFuture(_ time: Timestamp) async throws(StatusError) -> Bool {
        guard time > max(.current(), position.lastCommitTime ?? .minimum) else { return false }
        return time > (try await safePosition()).lastCommitTime ?? .minimum
    }

    /// Returns the current document at `path`.
    package func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        try await document(at: path, readTime: nil)
    }

    /// Returns a page of the current documents of a collection.
    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool
    ) async throws(StatusError) -> DocumentPage {
        try await documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: includingMissing,
            readTime: nil
        )
    }

    /// Returns a page of the current collections directly under a document, or of the root collections.
    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int
    ) async throws(StatusError) -> CollectionPage {
        try await collections(under: parent, after: after, limit: limit, readTime: nil)
    }

    /// Commits writes atomically, without an identity.
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet(),
        by author: CommitAuthor? = nil
    ) async throws(StatusError) -> CommitResult {
        try await commit(writes, validating: reads, by: author, identity: nil)
    }
}

/// A store has no quotas unless it implements them.
extension DocumentStore {
    package func quota() async throws(StatusError) -> DatabaseQuota { DatabaseQuota() }

    package func setQuota(_ quota: DatabaseQuota) async throws(StatusError) {
        throw StatusError(.unimplemented, "The database has no quota.")
    }
}
