internal import DocumentModel

/// The cause of the errors of calls that have noticed that the engine has lost commits.
struct HistoryLoss: Error {
    /// The error of a read as of a time when the loss has just been noticed, and it is not known yet whether the time is one of it.
    static var justNoticed: StatusError {
        StatusError(
            .unavailable,
            "The database engine has lost commits, in a fail-over or a restore, perhaps those before the read time. Try again.",
            cause: HistoryLoss()
        )
    }

    /// The error of a transaction that may have read what was lost.
    static var abortedTransaction: StatusError {
        var error = StatusError(
            .aborted,
            "The database engine has lost commits, in a fail-over or a restore, which the transaction may have read. Nothing was "
                + "written. Run it again.",
            cause: HistoryLoss()
        )
        error.retryAfter = .zero
        return error
    }
}
