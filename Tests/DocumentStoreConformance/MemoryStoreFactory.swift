package import DocumentStore

/// Creates in-memory stores.
package struct MemoryStoreFactory: StoreFactory {
    /// Creates the factory.
    package init() {}

    package func withStore(_ body: (any ClosableStore) async throws -> Void) async throws {
        let store = MemoryStore()
        defer { store.close() }
        try await body(store)
    }

    package func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws {
        let store = MemoryStore(retainedCount: 20)
        defer { store.close() }
        try await body(store)
    }
}
