import DocumentModel
import DocumentStore
import DocumentStoreConformance
import QueryTestSupport
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Migration of the engine's tables", EngineServer.condition)
struct EngineMigrationTests {
    /// Makes the tables as a server of version 1 left them.
    private func revertToVersion1(_ server: EngineServer, _ configuration: PostgresConfiguration) throws {
        try server.execute(
            """
            DROP TABLE hearth.entries, hearth.records, hearth.leases;
            ALTER TABLE hearth.databases DROP COLUMN seed, DROP COLUMN builds;
            ALTER TABLE hearth.commits DROP COLUMN format, DROP COLUMN term;
            DELETE FROM hearth.format WHERE id = 2;
            UPDATE hearth.format SET version = 1;
            """,
            in: configuration
        )
    }

    /// Makes a database of version 1, and returns its documents.
    private func makeVersion1(_ server: EngineServer, _ configuration: PostgresConfiguration) async throws -> [Document] {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(350)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        _ = try await host.store.commit(documents.map { try .set($0.path, $0.fields) })
        let fields = RandomDocuments.fields
        let definition = try IndexDefinition(
            collection: CollectionID("c"),
            fields: [.init(fields[0]), .init(fields[2], .descending)]
        )
        _ = try await host.store.changeIndexes(.create(definition))
        await host.close()
        try revertToVersion1(server, configuration)
        return documents
    }

    @Test
    func `Servers that start together bring tables of version 1 to their version, and add all entries`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let documents = try await makeVersion1(server, configuration)
        let hosts = try await withThrowingTaskGroup(of: PostgresHost.self) { group in
            for _ in 0..<3 { group.addTask { try await PostgresHost.open(configuration, logger: .silent) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // While entries are missing, queries do without them.
        try await QueryComparison(store: hosts[0].store, documents: documents).compareQueries(30)
        while await hosts[1].store.indexes().singleFields != .ready { try await Task.sleep(for: .milliseconds(10)) }
        try await QueryComparison(store: hosts[2].store, documents: documents).compareQueries(100)
        #expect(await hosts[2].store.indexes().indexes.map(\.buildState) == [.ready])
        for host in hosts { await host.close() }
        try server.expectConsistentEntries(configuration)
    }

    @Test
    func `A migration that was ended in between is continued, and documents change meanwhile`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let documents = try await makeVersion1(server, configuration)
        for attempt in 0..<4 {
            // Closes while it adds entries.
            let host = try await PostgresHost.open(configuration, logger: .silent)
            let (first, last) = (documents[attempt].path, documents[documents.count - 1 - attempt].path)
            _ = try await host.store.commit([.delete(first), .set(last, ["a": .integer(1)])])
            await host.close()
        }
        let result = try await PostgresHost.migrate(configuration, logger: .silent)
        #expect(result == (EngineSchema.version, EngineSchema.version))
        try server.expectConsistentEntries(configuration)
    }

    @Test
    func `A damaged row does not keep other documents from being indexed`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let documents = try await makeVersion1(server, configuration)
        try server.execute(
            "UPDATE hearth.documents SET fields = '{' WHERE name = (SELECT name FROM hearth.documents ORDER BY name LIMIT 1)",
            in: configuration
        )
        _ = try await PostgresHost.migrate(configuration, logger: .silent)
        try server.execute("DELETE FROM hearth.documents WHERE fields = '{'", in: configuration)
        try server.expectConsistentEntries(configuration)
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let count = try connection.execute(EngineStatement("SELECT count(*) FROM hearth.documents")).integer(0, 0)
        #expect(count == Int64(documents.count - 1))
    }

    @Test
    func `A server of version 1 that still runs cannot commit, since it would write no entries`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        _ = try await makeVersion1(server, configuration)
        #expect(try await PostgresHost.migrate(configuration, logger: .silent) == (1, EngineSchema.version))
        #expect(throws: StatusError.self) {
            try server.execute(
                "INSERT INTO hearth.commits (db, seq, time, bytes, token) SELECT db, 1000, 1, 1, '' FROM hearth.databases",
                in: configuration
            )
        }
    }

    @Test
    func `Tables of version 3 get the addresses of servers`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let earlier = try await PostgresHost.open(configuration, logger: .silent)
        try await earlier.store.increment("c/counter")
        await earlier.close()
        try server.execute(
            """
            ALTER TABLE hearth.leases DROP COLUMN address;
            DELETE FROM hearth.format WHERE id = 2;
            UPDATE hearth.format SET version = 3;
            """,
            in: configuration
        )
        let host = try await PostgresHost.open(configuration, logger: .silent)
        host.startForwarding(at: "http://server", LoopbackForwarding())
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        while try connection.execute(EngineStatement("SELECT address FROM hearth.leases")).text(0, 0) != "http://server" {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await host.store.increment("c/counter")
        #expect(try await host.store.counter("c/counter") == 2)
        await host.close()
        #expect(try connection.execute(EngineStatement("SELECT address FROM hearth.leases")).isNull(0, 0))
    }

    @Test
    func `A server goes on, and starts, with tables of a newer one that it can use`() async throws {
        let server = try await EngineServer.shared.value
        try await server.withForwardingHosts { holder, sender, _ in
            try server.execute("UPDATE hearth.format SET version = 1000 WHERE id = 1", in: holder.configuration)
            try await sender.store.waitUntilForwarding(to: holder.store)
            for host in [holder, sender] { try await host.store.increment("c/counter") }
            #expect(sender.engineStatus?.forwardedCount == 1)
            let started = try await PostgresHost.open(holder.configuration, logger: .silent)
            try await started.store.increment("c/counter")
            #expect(try await started.store.counter("c/counter") == 3)
            await started.close()
            // A program beside the servers works, too, and changes no version.
            try await EngineRecord.withRecord(.keys, in: holder.configuration, logger: .silent) { _ in }
            #expect(try await PostgresHost.migrate(holder.configuration, logger: .silent) == (1000, 1000))
        }
    }

    @Test
    func `A server makes no commit while a newer one has changed the tables so that it cannot use them`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try await host.store.increment("c/counter")
        try server.execute("UPDATE hearth.format SET version = 1001 - id", in: configuration)
        let error = await #expect(throws: StatusError.self) { try await host.store.increment("c/counter") }
        // A client that was offline keeps what it has queued.
        #expect(error?.code == .unavailable && error?.isOutcomeUnknown == false)
        #expect(error?.message.contains("version 999") == true)
        #expect(try await host.store.counter("c/counter") == 1)
        let index = try IndexDefinition(collection: CollectionID("c"), fields: [.init(FieldPath("a")), .init(FieldPath("b"))])
        let refused = await #expect(throws: StatusError.self) { try await host.store.changeIndexes(.create(index)) }
        #expect(refused?.code == .unavailable)
        for change in [
            { try await host.store.setQuota(DatabaseQuota(documentCount: 1)) },
            { _ = try await host.open(DatabaseIdentity(DatabaseID(project: "p", database: "d"))) },
            { try await host.delete(DatabaseID(project: "p", database: "d")) },
        ] as [() async throws -> Void] {
            #expect((await #expect(throws: StatusError.self) { try await change() })?.code == .unavailable)
        }
        // A load balancer sends its clients to the newer ones.
        #expect(await host.store.writeBlockedReason?.message.contains("version 999") == true)
        // It leaves the lease to a newer one.
        while host.engine.leases.term(of: host.store.database) != nil { try await Task.sleep(for: .milliseconds(10)) }
        await host.close()
    }

    @Test
    func `A server makes no commit in tables of an older version, as after the restore of a backup`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try await host.store.increment("c/counter")
        try server.execute(
            "UPDATE hearth.format SET version = 4 WHERE id = 1; DELETE FROM hearth.format WHERE id = 2;",
            in: configuration
        )
        let error = await #expect(throws: StatusError.self) { try await host.store.increment("c/counter") }
        #expect(error?.code == .unavailable && error?.message.contains("Restart it") == true)
        await host.close()
        // It brings the tables to its version then.
        let restarted = try await PostgresHost.open(configuration, logger: .silent)
        try await restarted.store.increment("c/counter")
        #expect(try await restarted.store.counter("c/counter") == 2)
        await restarted.close()
    }

    @Test
    func `A collection that has been empty for longer than commits are retained has no rows`() async throws {
        let server = try await EngineServer.shared.value
        var configuration = try await server.makeConfiguration()
        configuration.retentionAge = .zero
        configuration.minimumRetainedCount = 5
        configuration.pruningInterval = 5
        let host = try await PostgresHost.open(configuration, logger: .silent)
        for number in 0..<20 {
            try await host.store.increment("a/\(number)/b\(number)/x")
            _ = try await host.store.commit([.delete(DocumentPath("a/\(number)/b\(number)/x"))])
        }
        // Each is removed with the commits that changed it.
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        while true {
            try await host.store.increment("kept/counter")
            let rows = try connection.execute(EngineStatement("SELECT count(*) FROM hearth.scopes"))
            if let count = rows.integer(0, 0), count <= 4 { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await host.store.size(of: CollectionPath("kept")).documentCount == 1)
        await host.close()
    }
}
