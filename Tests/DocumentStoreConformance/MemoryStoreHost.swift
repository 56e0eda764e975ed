package import DocumentModel
package import DocumentStore
import Synchronization

/// In-memory databases. A closed one keeps its documents for the next time it is opened.
package final class MemoryStoreHost: StoreHost {
    private let stores = Mutex<[DatabaseID: MemoryStore]>([:])
    private let memoryStore = MemoryStore()

    /// Creates a host without additional databases.
    package init() {}

    package var defaultStore: any DocumentStore { memoryStore }

    package func databases() async throws(StatusError) -> [DatabaseID] {
        stores.withLock { $0.keys.sorted() }
    }

    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        stores.withLock { $0[id] != nil }
    }

    package func open(_ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore {
        guard let id = identity.id else { throw StatusError(.internal, "The default database is always open.") }
        let store = stores.withLock { stores in
            let store = stores[id] ?? MemoryStore(identity: identity)
            stores[id] = store
            return store
        }
        store.reopen()
        return store
    }

    package func delete(_ id: DatabaseID) async throws(StatusError) {
        stores.withLock { $0[id] = nil }
    }

    package func purgeDeletedDatabases() async throws(StatusError) {}

    package func stopPurging() {}

    @discardableResult
    package func close() async -> StatusError? {
        memoryStore.close()
    }
}
