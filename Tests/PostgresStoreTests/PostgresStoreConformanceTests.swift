import DocumentModel
import DocumentStore
import DocumentStoreConformance
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Conformance of the PostgreSQL store", EngineServer.condition)
struct PostgresStoreConformanceTests {
    @Test(arguments: StoreRequirement.all)
    func `The store meets every requirement`(of requirement: StoreRequirement) async throws {
        try await requirement.check(with: PostgresStoreFactory(serverCount: 1))
    }

    @Test(arguments: StoreRequirement.all)
    func `A store that another server writes meets every requirement`(of requirement: StoreRequirement) async throws {
        try await requirement.check(with: PostgresStoreFactory(serverCount: 2))
    }

    /// As on an engine that has no notifications and refuses commits that might conflict, such as CockroachDB.
    @Test(arguments: StoreRequirement.all)
    func `A store meets every requirement without notifications, while the engine fails one in twenty commits`(
        of requirement: StoreRequirement
    ) async throws {
        try await requirement.check(with: PostgresStoreFactory(serverCount: 2, isPortable: true))
    }

    @Test(arguments: StoreRequirement.all)
    func `A store that forwards all its commits to another server meets every requirement`(
        of requirement: StoreRequirement
    ) async throws {
        try await requirement.check(with: ForwardingStoreFactory())
    }

    @Test(arguments: StoreHostRequirement.all)
    func `The host meets every requirement`(of requirement: StoreHostRequirement) async throws {
        try await EngineServer.shared.value.withHosts { hosts in
            try await requirement.check(on: hosts[0])
        }
    }
}

/// Creates stores on one or two servers that share an engine. All tests share the servers, so that there are not too many connections.
private struct PostgresStoreFactory: StoreFactory {
    let serverCount: Int
    /// True for an engine without notifications that fails some commits.
    var isPortable = false

    private static let notified = makeHosts { _ in }
    private static let portable = Task {
        let hosts = makeHosts { $0.usesNotifications = false }
        let (host, server) = (try await hosts.value[0], try await EngineServer.shared.value)
        // Called at the end of a transaction.
        try server.execute(
            """
            CREATE FUNCTION hearth.fail() RETURNS trigger AS $$
            BEGIN
                IF random() < 0.05 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
                RETURN NULL;
            END $$ LANGUAGE plpgsql;
            CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON hearth.commits DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION hearth.fail();
            """,
            in: host.configuration
        )
        return try await hosts.value
    }
    private static let forgetful = makeHosts { configuration in
        configuration.retentionAge = .zero
        configuration.minimumRetainedCount = 20
        configuration.pruningInterval = 10
        configuration.recentBytes = 1 << 10
    }

    private static func makeHosts(
        configure: @escaping @Sendable (inout PostgresConfiguration) -> Void
    ) -> Task<[PostgresHost], any Error> {
        Task {
            var configuration = try await EngineServer.shared.value.makeConfiguration()
            configure(&configuration)
            return [
                try await PostgresHost.open(configuration, logger: .silent),
                try await PostgresHost.open(configuration, logger: .silent),
            ]
        }
    }

    func withStore(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await withStore(of: isPortable ? Self.portable : Self.notified, body)
    }

    func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await withStore(of: Self.forgetful, body)
    }

    private func withStore(
        of hosts: Task<[PostgresHost], any Error>,
        _ body: (any ClosableStore) async throws -> Void
    ) async throws {
        let id = try DatabaseID("test/d\(UInt64.random(in: 0...(.max)))", inProject: "test")
        var stores: [any ClosableStore] = []
        for host in try await hosts.value.prefix(serverCount) { stores.append(try await host.open(DatabaseIdentity(id))) }
        let store = stores.count == 1 ? stores[0] : TwoServerStore(writer: stores[0], reader: stores[1])
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}

/// Creates stores on a server that forwards all its commits to another one.
private struct ForwardingStoreFactory: StoreFactory {
    private typealias Hosts = (holder: PostgresHost, sender: PostgresHost, forwarding: LoopbackForwarding)

    private static let hosts = Task { try await EngineServer.shared.value.makeForwardingHosts() }
    private static let forgetful = Task {
        try await EngineServer.shared.value.makeForwardingHosts { configuration in
            configuration.retentionAge = .zero
            configuration.minimumRetainedCount = 20
            configuration.pruningInterval = 10
            configuration.recentBytes = 1 << 10
        }
    }

    func withStore(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await withStore(of: Self.hosts.value, body)
    }

    func withStoreOfShortHistory(_ body: (any ClosableStore) async throws -> Void) async throws {
        try await withStore(of: Self.forgetful.value, body)
    }

    private func withStore(of hosts: Hosts, _ body: (any ClosableStore) async throws -> Void) async throws {
        let identity = DatabaseIdentity(try DatabaseID("test/d\(UInt64.random(in: 0...(.max)))", inProject: "test"))
        let holder = try #require(try await hosts.holder.open(identity) as? PostgresStore)
        while holder.engine.leases.term(of: holder.database) == nil { try await Task.sleep(for: .milliseconds(5)) }
        let store = try #require(try await hosts.sender.open(identity) as? PostgresStore)
        try await store.waitUntilForwarding(to: holder)
        do {
            try await body(store)
        } catch {
            for store in [store, holder] { await store.close() }
            throw error
        }
        for store in [store, holder] { await store.close() }
    }
}
