import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Leases of the engine's databases", EngineServer.condition)
struct LeaseTests {
    private func wait(until isMet: () async throws -> Bool) async throws {
        while try await !isMet() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test
    func `A server that has lost its lease without noticing discards no commits`() async throws {
        let server = try await EngineServer.shared.value
        var configuration = try await server.makeConfiguration()
        configuration.leaseRenewalInterval = .seconds(3_600)
        configuration.retentionAge = .zero
        configuration.minimumRetainedCount = 2
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try await wait { host.engineStatus?.leaseCount == 1 }
        for _ in 0..<10 { try await host.store.increment("c/counter") }
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        func commitCount() throws -> Int64? {
            try connection.execute(EngineStatement("SELECT count(*) FROM hearth.commits")).integer(0, 0)
        }
        let retention = Retention(host.store.database, host.store.engine)
        try server.execute("UPDATE hearth.leases SET term = 2", in: configuration)
        try await retention.run(1)
        #expect(try commitCount() == 10)
        #expect(try connection.execute(EngineStatement("SELECT oldest FROM hearth.databases")).integer(0, 0) == 1)
        try await retention.run(2)
        #expect(try commitCount() == 2)
        await host.close()
    }

    @Test
    func `A lease is taken while the database is locked`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        await (try PostgresHost.open(configuration, logger: .silent)).close()
        let busy = try EngineConnection(configuration.address, timeout: .seconds(60), maximumIdle: .seconds(3_600))
        try busy.execute([EngineStatement("BEGIN"), EngineStatement("SELECT db FROM hearth.databases FOR UPDATE")])
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try await wait { host.engineStatus?.leaseCount == 1 }
        busy.rollBack()
        await host.close()
    }

    @Test
    func `A database that is opened again before it is closed keeps its lease`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let identity = DatabaseIdentity(try DatabaseID("shop/a", inProject: "shop"))
        let first = try await host.open(identity)
        try await wait { host.engineStatus?.leaseCount == 2 }
        let second = try await host.open(identity)
        await first.close()
        #expect(host.engineStatus?.leaseCount == 2)
        await second.close()
        #expect(host.engineStatus?.leaseCount == 1)
        await host.close()
    }
}
