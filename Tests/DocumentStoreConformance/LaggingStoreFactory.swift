package import DocumentStore

/// Creates stores that learn of the commits of a base a few milliseconds late.
package struct LaggingStoreFactory<Base: StoreFactory>: StoreFactory {
    private let base: Base

    /// Creates a factory of stores that lag behind those of a base.
    package init(_ base: Base) {
        self.base = base
    }

    package func withStore(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await base.withStore { store in try await lag(behind: store, body) }
    }

    package func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await base.withStoreOfShortHistory { store in try await lag(behind: store, body) }
    }

    private func lag(behind base: any ClosableStore, _ body: (any ClosableStore) async throws -> Void) async throws {
        let store = LaggingStore(base)
        let follower = Task {
            while (try? await Task.sleep(for: .milliseconds(5))) != nil { store.catchUp() }
        }
        defer { follower.cancel() }
        try await body(store)
    }
}
