internal import DocumentModel

/// The source from which data is read.
public enum FirestoreSource: Hashable, Sendable {
    /// The server.
    case `default`
    /// The server.
    case server
    /// The local cache. There is none: reads from it fail with ``FirestoreErrorCode/unavailable``.
    case cache

    func check() throws(FirestoreError) {
        guard self == .cache else { return }
        throw FirestoreError(StatusError(.unavailable, "Failed to read from cache: there is no cache. Read from the server."))
    }
}
