package import DocumentModel
package import StrictJSON

/// Documents, and the log of the commits that made them.
///
/// Everything above the store speaks to this protocol: nothing there may assume files or a single process.
///
/// - A commit that was acknowledged is durable, and every later read shows it.
/// - A commit is all or nothing. A read of one document shows it before or after a commit, never between.
/// - Commits are totally ordered: sequence numbers are dense and commit times strictly grow.
///
/// Reads take a `readTime`: they then show what the commits up to that time had made, and go on showing it for as long as
/// those commits are kept. Without one they show what is there now. What was changed without a commit, by people who edit
/// files, has no time: a document that no commit has changed since the read time is shown as it is found now. A read at a
/// time throws `.failedPrecondition` when the time is before the commits that are kept, `.invalidArgument` when it is yet to
/// come.
package protocol DocumentStore: Sendable {
    /// The document at `path`, or nil when there is none.
    ///
    /// - Throws: `.dataLoss` with the file's place when the document is damaged; `.unavailable` when it can't be read now.
    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument?

    /// The file of the document at `path` as it is on disk, right or damaged; nil where it has none.
    ///
    /// - Throws: `.dataLoss` when something else is in its place; `.unavailable` when it can't be read now.
    func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]?

    /// The documents of a collection in ID order, a page at a time.
    ///
    /// - Parameters:
    ///   - collection: The collection; one that doesn't exist is empty.
    ///   - after: Where the page begins: behind this ID, or at the beginning when nil.
    ///   - limit: How many entries the page holds at most, damaged ones counted; at least 1.
    ///   - includingMissing: Whether to list also the documents that don't exist but have documents below them.
    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage

    /// The collections directly under a document, or at the top when `parent` is nil, in order of their IDs.
    ///
    /// A collection is listed exactly when a document exists in it or anywhere below it. What is in the place of a document and
    /// can't be read counts as one, so that it is found where it is reported.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage

    /// The documents that a query finds.
    ///
    /// All of them as of one time, the answer's: everything that any call had been told of before this one is in it.
    ///
    /// - Parameter maximumBytes: How large the documents may be together.
    /// - Throws: `.resourceExhausted` when the documents are larger, or there is too much to sort; `.unavailable` when the store
    ///   can't answer queries now; `.cancelled` when the task is cancelled.
    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryAnswer

    /// What aggregations make of the documents that a query finds, which was made for them
    /// (``NormalizedQuery/init(_:aggregating:)``). A search for vectors in the query is not looked at.
    ///
    /// - Throws: As ``run(_:maximumBytes:readTime:)``.
    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer

    /// How much is in a collection, or in all of them when `collection` is nil, whatever that is: it is known beforehand. Damaged
    /// documents don't count.
    ///
    /// - Throws: `.unavailable` when the store can't answer queries now.
    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize

    /// What is indexed beside single fields, what isn't, and how far that is.
    func indexes() async -> IndexReport

    /// Changes what is indexed; durable when this returns, and carried out in the background.
    ///
    /// - Throws: `.alreadyExists`, `.notFound`, `.resourceExhausted` when there are too many; `.dataLoss` when what was defined
    ///   before can't be read.
    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport

    /// The versions of a document that are kept, the newest first.
    ///
    /// Each is what a commit made of it; the oldest may be older than the commits that are kept, since the first of those tells
    /// what was before. What people edited in the file is not a version.
    ///
    /// - Parameters:
    ///   - before: Where the page begins: with the newest version older than this, or the newest of all when nil.
    ///   - limit: How many versions the page holds at most; at least 1.
    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage

    /// Applies all the writes, in order and at one time, or none of them.
    ///
    /// Each write sees what the writes before it made. When this returns, the commit is durable and visible.
    ///
    /// - Parameters:
    ///   - writes: The writes; there may be none, then the reads are validated all the same.
    ///   - reads: What must not have been changed by other commits since it was read, and the damaged files that may be replaced.
    ///   - author: Who commits, for ``history(of:before:limit:)``: the ID of a key; nil when that isn't known.
    /// - Throws: `.aborted` when something in `reads` has changed; the error of the first write that can't be applied, with
    ///   its index (`.notFound`, `.alreadyExists`, `.failedPrecondition`, `.invalidArgument`), `.dataLoss` when a document concerned is
    ///   damaged, `.resourceExhausted` when there is no space, `.unavailable` when the store does not accept writes. Nothing has
    ///   changed then.
    func commit(_ writes: [Write], validating reads: ReadSet, by author: UTF8Key?) async throws(StatusError) -> CommitResult

    /// The commits after `sequence`, in order and without gaps, from memory while recent and else from the journal.
    ///
    /// Waits when there is none yet. Ends when its task is cancelled or the store is closed. Throws `.outOfRange` when
    /// commits after `sequence` are no longer kept, or `sequence` is yet to come: ``StorePosition/canResume(after:)``.
    func commits(after sequence: SequenceNumber) -> CommitSequence

    /// Calls `body` once, as soon as ``commits(after:)`` has something to give or to throw, or has ended; at once when that is so
    /// already.
    ///
    /// For the many who wait: it costs no task. `body` must return at once.
    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification

    /// Where the log of commits stands.
    var position: StorePosition { get }

    /// Where the log of commits stands once it includes everything that the reads before this call can have shown.
    ///
    /// A commit can be read a moment before it is in the log; this waits until it is.
    ///
    /// - Throws: `.cancelled` when the task is cancelled meanwhile.
    func settledPosition() async throws(StatusError) -> StorePosition

    /// What the store takes of its disk; nil where it has none.
    ///
    /// Costs a few system calls, however much is stored.
    func storage() async -> StorageReport?

    /// Why the store takes no writes now, as the error that a write would get; nil when it takes them.
    ///
    /// Costs a few system calls, however much is stored.
    var writeObstacle: StatusError? { get async }
}
