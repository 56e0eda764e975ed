/// The indexes of a persistent cache, which queries of the cache use.
///
/// The server's indexes are independent of them.
public final class PersistentCacheIndexManager: Sendable {
    private let session: any SyncSession

    init(_ session: any SyncSession) {
        self.session = session
    }

    /// Lets queries of the cache create indexes, until ``disableIndexAutoCreation()`` or the end of the program. Off by default.
    ///
    /// A query gets an index when it has read at least 100 documents of the cache, and more than twice as many as its result has. The
    /// index is made in the background, of the fields that are compared for equality and of the orders, and takes part in every later
    /// write. Arrays, distances and searches below a document have none.
    public func enableIndexAutoCreation() {
        session.setIndexAutoCreation(true)
    }

    /// Lets queries create no more indexes. Those that exist are still used.
    public func disableIndexAutoCreation() {
        session.setIndexAutoCreation(false)
    }

    /// Removes all indexes.
    public func deleteAllIndexes() {
        session.removeIndexes()
    }
}

extension Firestore {
    /// The manager of the indexes of the persistent cache; `nil` without ``PersistentCacheSettings``.
    public var persistentCacheIndexManager: PersistentCacheIndexManager? {
        guard settings.cacheSettings is PersistentCacheSettings, let session = try? session() else { return nil }
        return PersistentCacheIndexManager(session)
    }
}
