internal import DocumentModel

/// The source from which data is read.
public enum FirestoreSource: UInt, Hashable, Sendable {
    /// The server or, with a local cache, the cache if the server cannot be reached.
    case `default`
    /// The server.
    case server
    /// The local cache. Without ``FirestoreSettings/cacheSettings``, reads from it fail with ``FirestoreErrorCode/unavailable``.
    case cache

    /// Checks that the source exists without a local cache.
    func check() throws(FirestoreError) {
        guard self == .cache else { return }
        throw FirestoreError(
            StatusError(.unavailable, "Failed to read from cache: there is no cache. Set FirestoreSettings.cacheSettings.")
        )
    }
}
