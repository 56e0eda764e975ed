import DocumentModel
package import DocumentStore
import Testing
import UTF8Text

/// A requirement that every driver's host must fulfill, with its test, as ``StoreRequirement`` is one of its stores.
package struct StoreHostRequirement: Sendable, CustomTestStringConvertible {
    /// The requirement, as a sentence.
    package let testDescription: String
    private let body: @Sendable (any StoreHost) async throws -> Void

    private init(_ description: String, _ body: @escaping @Sendable (any StoreHost) async throws -> Void) {
        testDescription = description
        self.body = body
    }

    /// Checks the requirement on a new host without additional databases, and records an issue for each violation.
    package func check(on host: any StoreHost) async throws {
        try await body(host)
    }

    /// All requirements.
    package static let all = [
        StoreHostRequirement("The default database is open, and not listed") { host in
            try await host.defaultStore.set("c/a", 1)
            #expect(try await host.defaultStore.version("c/a") == .integer(1))
            #expect(host.defaultStore.position.database == nil)
            #expect(try await host.databases().isEmpty)
        },
        StoreHostRequirement("A database exists, and is listed by name, once it has been opened and written") { host in
            let ids = try ["shop/b", "shop/a", "lab/z"].map { try DatabaseID($0, inProject: "shop") }
            for id in ids {
                #expect(try await !host.contains(id))
                try await host.withStore(id) { store in try await store.set("c/a", 1) }
                #expect(try await host.contains(id))
            }
            #expect(try await host.databases() == ids.sorted())
            #expect(try await !host.contains(DatabaseID("shop/z", inProject: "shop")))
        },
        StoreHostRequirement("Databases are separate from each other and from the default one") { host in
            let (first, second) = (try DatabaseID("shop/a", inProject: "shop"), try DatabaseID("shop/b", inProject: "shop"))
            try await host.defaultStore.set("c/a", 1)
            try await host.withStore(first) { store in try await store.set("c/a", 2) }
            try await host.withStore(second) { store throws in
                #expect(try await store.version("c/a") == nil)
                #expect(store.position.lastSequence == .zero)
            }
            #expect(try await host.defaultStore.version("c/a") == .integer(1))
        },
        StoreHostRequirement("A new database has the given epoch, and keeps it and its documents when it is opened again") {
            host in
            let identity = DatabaseIdentity(try DatabaseID("shop/a", inProject: "shop"))
            let position = try await host.withStore(identity) { store throws in
                #expect(store.position.database == identity.id && store.position.epoch == identity.epoch.description)
                try await store.set("c/a", 1)
                return store.position
            }
            try await host.withStore(DatabaseIdentity(identity.id)) { store throws in
                #expect(store.position == position)
                #expect(try await store.version("c/a") == .integer(1))
            }
        },
        StoreHostRequirement("A deleted database is gone at once, and a new one of its name is empty, with another history") {
            host in
            let id = try DatabaseID("shop/a", inProject: "shop")
            let epoch = try await host.withStore(id) { store throws in
                try await store.set("c/a", 1)
                return store.position.epoch
            }
            try await host.delete(id)
            #expect(try await !host.contains(id))
            #expect(try await host.databases().isEmpty)
            try await host.withStore(id) { store throws in
                #expect(try await store.version("c/a") == nil)
                #expect(store.position.lastSequence == .zero && store.position.epoch != epoch)
            }
        },
        StoreHostRequirement("Deleting a database that does not exist has no effect") { host in
            try await host.withStore(try DatabaseID("shop/a", inProject: "shop")) { store in try await store.set("c/a", 1) }
            try await host.delete(DatabaseID("shop/b", inProject: "shop"))
            try await host.delete(DatabaseID("lab/a", inProject: "shop"))
            #expect(try await host.databases() == [DatabaseID("shop/a", inProject: "shop")])
        },
        StoreHostRequirement("A purge keeps the databases that exist") { host in
            let (kept, deleted) = (try DatabaseID("shop/a", inProject: "shop"), try DatabaseID("shop/b", inProject: "shop"))
            for id in [kept, deleted] { try await host.withStore(id) { store in try await store.set("c/a", 1) } }
            try await host.delete(deleted)
            try await host.purgeDeletedDatabases()
            #expect(try await host.databases() == [kept])
            try await host.withStore(kept) { store throws in #expect(try await store.version("c/a") == .integer(1)) }
        },
        StoreHostRequirement("A closed host accepts no more commits") { host in
            try await host.defaultStore.set("c/a", 1)
            #expect(await host.close() == nil)
            await #expect(throws: StatusError.self) { try await host.defaultStore.set("c/a", 2) }
        },
    ]
}

extension StoreHost {
    /// Opens a database, runs `body`, and closes the database.
    fileprivate func withStore<Result>(
        _ identity: DatabaseIdentity,
        _ body: (any ClosableStore) async throws -> Result
    ) async throws -> Result {
        let store = try await open(identity)
        do {
            let result = try await body(store)
            #expect(await store.close() == nil)
            return result
        } catch {
            await store.close()
            throw error
        }
    }

    @discardableResult
    fileprivate func withStore<Result>(
        _ id: DatabaseID,
        _ body: (any ClosableStore) async throws -> Result
    ) async throws -> Result {
        try await withStore(DatabaseIdentity(id), body)
    }
}
