internal import DocumentModel
internal import HearthTransport

extension Firestore {
    /// Discards the ID token, since another user has signed in, the user has signed out, or the claims of the token have changed.
    ///
    /// Open listeners reconnect with a token of the new user and continue without missing or repeating a change. A listener that
    /// the new user may not have ends with ``FirestoreErrorCode/permissionDenied``. Calls that start afterward are made for the
    /// new user. Writes and transactions of the previous user that have not been sent fail with
    /// ``FirestoreErrorCode/cancelled``. With a local cache, writes wait until that user is back: see
    /// ``IDTokenProvider/userID``.
    ///
    /// Each instance has its own token: call the method for each database that the program uses. It has no effect with an API
    /// key.
    public func credentialDidChange() {
        changeUser { connection, session, user in
            connection.credentialDidChange()
            session?.changeUser(to: user)
        }
    }

    /// The current user, for whom writes are made; `nil` without ID tokens.
    var user: IDTokenCache.User? {
        (try? connection())?.user
    }
}
