package import DocumentModel

extension StatusError {
    /// The error of a write that a standby refuses.
    ///
    /// - Parameter primary: The address of the primary, as it was configured.
    package static func standby(of primary: String) -> StatusError {
        var error = StatusError(
            .failedPrecondition,
            "This server is a standby, which serves reads only. Send writes to the primary, \(primary)."
        )
        error.isExecuted = false
        return error
    }
}
