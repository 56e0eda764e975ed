internal import DocumentModel

extension DocumentIndex.Phase {
    /// Whether commits that wait are taken in soon.
    var takesCommits: Bool {
        switch self {
        case .ready, .rebuilding: true
        case .starting, .failed, .closed: false
        }
    }

    /// The error for a query that has waited long enough.
    var notReady: StatusError {
        var done = "It is being brought up to date."
        if case .rebuilding(let documents) = self { done = "It is being made anew, and \(documents) documents are in it." }
        var error = StatusError(
            .unavailable,
            "The index, which queries need, is not ready yet. \(done) Try again later; documents can be read and written meanwhile."
        )
        error.retryAfter = .seconds(1)
        return error
    }
}
