internal import Concurrency
internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

/// A commit in the queue, with its suspended caller.
struct PendingCommit: Sendable {
    let writes: [Write]
    /// The reads to validate.
    let reads: ReadSet
    let author: CommitAuthor?
    /// The identity; `nil` for a commit that is applied each time it is sent.
    let identity: CommitIdentity?
    /// The edits of files that the writes stand for, by document.
    var edits: [DocumentPath: FileEdit] = [:]
    /// The caller. Not a `Waiter`, since it gets a result, and a cancellation does not withdraw the commit.
    let continuation: CheckedContinuation<Outcome, Never>
    /// The call of the commit; `nil` for one that is not refused, however long it has waited.
    let admission = CallAdmission.current
    /// The time since it was submitted.
    let waiting = Stopwatch()

    /// The commit as it is evaluated.
    var request: CommitRequest {
        let unknown = edits.filter { $0.value.base == .unknown }
        return CommitRequest(
            writes: writes,
            reads: reads,
            author: author,
            identity: identity,
            unknownVersions: unknown.mapValues { CommitRequest.UnknownVersion(createTime: $0.contents?.times?.create) }
        )
    }

    /// The outcome of a commit.
    struct Outcome: Sendable {
        let result: Result<CommitResult, StatusError>
        /// The time of the sync that made the commit durable.
        let sync: Range<ContinuousClock.Instant>?
    }

    /// True if the commit has waited too long for its work to begin.
    var isLate: Bool { admission?.isLate(after: waiting) ?? false }

    /// True if the commit is processed in steps between the batches of small commits; see ``LargeBatch``.
    var isLarge: Bool { writes.count > Self.maximumSmallWrites && edits.isEmpty }

    /// The maximum number of writes of a small commit: their files take about as long as the sync of the journal.
    private static let maximumSmallWrites = 20

    /// True if the commit ends a transaction that has read documents.
    var isOfTransaction: Bool { reads.count > 0 }

    /// True if the commit stores documents.
    var storesDocuments: Bool { writes.contains(where: \.operation.storesDocument) }

    /// Resumes the caller.
    ///
    /// - Parameter sync: The time of the sync that made its batch durable.
    func resume(with result: Result<CommitResult, StatusError>, sync: Range<ContinuousClock.Instant>? = nil) {
        let hasChanges = (try? result.get())?.sequence != nil
        continuation.resume(returning: Outcome(result: result, sync: hasChanges ? sync : nil))
    }
}
