package import DocumentModel

/// Documents, and the log of the commits that made them.
///
/// Everything above the store speaks to this protocol: nothing there may assume files or a single process.
///
/// - A commit that was acknowledged is durable, and every later read shows it.
/// - A commit is all or nothing. A read of one document shows it before or after a commit, never between.
/// - Commits are totally ordered: sequence numbers are dense and commit times strictly grow.
package protocol DocumentStore: Sendable {
    /// The document at `path`, or nil when there is none.
    ///
    /// - Throws: `.dataLoss` with the file's place when the document is damaged; `.unavailable` when it can't be read now.
    func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument?

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
        includingMissing: Bool
    ) async throws(StatusError) -> DocumentPage

    /// The collections directly under a document, or at the top when `parent` is nil, in order of their IDs.
    ///
    /// A collection is listed exactly when a document exists in it or anywhere below it.
    func collections(under parent: DocumentPath?, after: CollectionID?, limit: Int) async throws(StatusError) -> CollectionPage

    /// Applies all the writes, in order and at one time, or none of them.
    ///
    /// Each write sees what the writes before it made. When this returns, the commit is durable and visible.
    ///
    /// - Throws: The error of the first write that can't be applied (`.notFound`, `.alreadyExists`, `.failedPrecondition`,
    ///   `.invalidArgument`), `.dataLoss` when a document concerned is damaged, `.resourceExhausted` when there is no space,
    ///   `.unavailable` when the store does not accept writes. Nothing has changed then.
    func commit(_ writes: [Write]) async throws(StatusError) -> CommitResult

    /// The commits after `sequence`, in order and without gaps, from memory while recent and else from the journal.
    ///
    /// Waits when there is none yet. Ends when its task is cancelled or the store is closed. Throws `.outOfRange` when
    /// commits after `sequence` are no longer kept, or `sequence` is yet to come: ``StorePosition/canResume(after:)``.
    func commits(after sequence: SequenceNumber) -> CommitSequence

    /// Where the log of commits stands.
    var position: StorePosition { get }

    /// Where the log of commits stands once it includes everything that the reads before this call can have shown.
    ///
    /// A commit can be read a moment before it is in the log; this waits until it is.
    ///
    /// - Throws: `.cancelled` when the task is cancelled meanwhile.
    func settledPosition() async throws(StatusError) -> StorePosition

    /// Why the store takes no writes now, as the error that a write would get; nil when it takes them.
    ///
    /// Costs a few system calls, however much is stored.
    var writeObstacle: StatusError? { get async }
}
