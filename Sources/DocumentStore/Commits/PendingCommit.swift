internal import DocumentModel
internal import StrictJSON

/// A commit that waits for its turn, and its caller.
struct PendingCommit: Sendable {
    let writes: [Write]
    /// What must still hold when the writes are applied.
    let reads: ReadSet
    /// Who asks for it, as its version of a document tells.
    let author: UTF8Key?
    let caller: CheckedContinuation<Result<CommitResult, StatusError>, Never>

    /// Lets the caller go on.
    func finish(_ outcome: Result<CommitResult, StatusError>) {
        caller.resume(returning: outcome)
    }
}
