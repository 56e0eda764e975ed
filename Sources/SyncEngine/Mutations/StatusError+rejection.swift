package import DocumentModel

extension StatusError {
    /// True if the server's answer to a batch with this error is final, so that the batch is rejected. After any other error it is
    /// sent again.
    ///
    /// An error that is about the identity of the commit is no verdict on the writes, whatever its code. The caller looks at the reason
    /// for a mismatch of the identity first, and asks here only if there is none.
    ///
    /// Firestore's clients also reject after data loss. Here that is a damaged file on the server and no verdict on the writes.
    package var rejectsBatch: Bool {
        // A server that does not execute the call, such as a standby, does not judge it.
        guard isExecuted != false else { return false }
        switch code {
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented:
            return true
        case .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted, .internal, .unavailable, .dataLoss,
            .unauthenticated:
            return false
        }
    }
}
