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

    @Test(arguments: StoreRequirement.all)
    func `A store without notifications that another server writes meets every requirement`(
        of requirement: StoreRequirement
    ) async throws {
        try await requirement.check(with: PostgresStoreFactory(serverCount: 2, usesNotifications: false))
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
    var usesNotifications = true

    private static let notified = makeHosts { _ in }
    private static let unnotified = makeHosts { $0.usesNotifications = false }
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
        try await withStore(of: usesNotifications ? Self.notified : Self.unnotified, body)
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
