internal import DocumentModel

/// Where a read takes its data from.
public enum FirestoreSource: Hashable, Sendable {
    /// From the server.
    case `default`
    /// From the server.
    case server
    /// From a cache on this machine. There is none, so that such reads fail as ``FirestoreErrorCode/unavailable``.
    case cache

    func check() throws(FirestoreError) {
        guard self == .cache else { return }
        throw FirestoreError(StatusError(.unavailable, "Failed to get it from cache: there is none. Read from the server."))
    }
}
