package import DocumentModel

extension StatusError {
    /// Returns the error for a read time at which commits are still possible.
    package static func readTimeInFuture(_ time: Timestamp) -> StatusError {
        StatusError(.invalidArgument, "The read time \(time) is in the future. Use a time in the past.")
    }
}
