import DocumentModel
import DocumentStore
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Setup of the engine", EngineServer.condition)
struct EngineSetupTests {
    /// Returns the error with which a host is not opened.
    private func failure(_ configuration: PostgresConfiguration) async -> StatusError? {
        do throws(StatusError) {
            await (try PostgresHost.open(configuration, logger: .silent)).close()
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `A URL with a password, or of another kind, is refused without being quoted`() throws {
        for url in [
            "postgresql://hearth:secret@localhost/db", "postgresql://localhost/db?password=secret",
            "postgresql://localhost/db?sslkey=a.key&sslpassword=secret", "mysql://secret@h/db",
        ] {
            let error = #expect(throws: StatusError.self) { try EngineAddress(url) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("secret") == false)
        }
        let address = try EngineAddress("postgresql://hearth@db1:5433,db2/hearth?target_session_attrs=read-write")
        #expect(address.description == "db1:5433,db2:5433/hearth")
    }

    @Test
    func `Servers that start at the same time make the tables once`() async throws {
        let configuration = try await EngineServer.shared.value.makeConfiguration()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let host = try await PostgresHost.open(configuration, logger: .silent)
                    try await host.store.increment("c/counter")
                    await host.close()
                    return host.store.position.epoch
                }
            }
            let epochs = try await group.reduce(into: Set()) { $0.insert($1) }
            #expect(epochs.count == 1)
        }
        let host = try await PostgresHost.open(configuration, logger: .silent)
        #expect(try await host.store.counter("c/counter") == 6)
        await host.close()
    }

    @Test
    func `Of servers that create a database at the same time, one gives it its epoch`() async throws {
        try await EngineServer.shared.value.withHosts(3) { hosts in
            for number in 0..<4 {
                let id = try DatabaseID("created\(number)", inProject: "hearth")
                let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for host in hosts {
                        group.addTask {
                            let identity = DatabaseIdentity(id)
                            let store = try await host.open(identity)
                            await store.close()
                            return store.position.epoch == identity.epoch.description
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(created == 1)
            }
        }
    }

    @Test
    func `Servers on an engine without notifications find each other's commits`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        try server.execute("ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO notify", in: configuration)
        let writer = try await PostgresHost.open(configuration, logger: .silent)
        let reader = try await PostgresHost.open(configuration, logger: .silent)
        #expect(!writer.configuration.usesNotifications)
        try await writer.store.increment("c/counter")
        var commits = reader.store.commits(after: .zero).makeAsyncIterator()
        let commit = try await commits.next()
        #expect(commit?.sequence == SequenceNumber(1))
        await writer.close()
        await reader.close()
    }

    @Test
    func `Tables of another version are refused, with what to do`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        #expect(try await PostgresHost.migrate(configuration, logger: .silent) == (0, EngineSchema.version))
        #expect(try await PostgresHost.migrate(configuration, logger: .silent) == (EngineSchema.version, EngineSchema.version))
        try server.execute("UPDATE hearth.format SET version = 1001 - id", in: configuration)
        let newer = await failure(configuration)
        #expect(newer?.code == .failedPrecondition)
        #expect(newer?.message.contains("version 1000") == true && newer?.message.contains("version 999") == true)
    }

    @Test
    func `A user without rights, a database that does not exist and an engine that is away have errors that help`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        await (try PostgresHost.open(configuration, logger: .silent)).close()
        try server.execute(
            "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
            in: configuration
        )
        var guest = configuration
        guest.address = try EngineAddress(
            configuration.address.options.filter { $0.name == "dbname" }.map(\.value)[0].replacing("hearth@", with: "guest@")
        )
        let denied = await failure(guest)
        #expect(denied?.code == .failedPrecondition)
        #expect(denied?.message.contains("right") == true)
        var missing = configuration
        missing.address = try EngineAddress(server.url("nowhere"))
        #expect(await failure(missing)?.code == .failedPrecondition)
        missing.address = try EngineAddress("postgresql://hearth@/db?host=/nonexistent")
        let away = await failure(missing)
        #expect(away?.code == .unavailable)
        #expect(away?.message.contains("/nonexistent") == false)
    }

    @Test
    func `An engine that is read-only blocks writes, and is read`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try await host.store.increment("c/counter")
        // Under load it may not answer in time.
        while await host.store.writeBlockedReason != nil {}
        await host.close()
        var readOnly = configuration
        let url = configuration.address.options.filter { $0.name == "dbname" }.map(\.value)[0]
        readOnly.address = try EngineAddress(url + "&options=-c%20default_transaction_read_only%3Don")
        let reader = try await PostgresHost.open(readOnly, logger: .silent)
        #expect(try await reader.store.counter("c/counter") == 1)
        #expect(await reader.store.writeBlockedReason?.code == .unavailable)
        let error = await #expect(throws: StatusError.self) { try await reader.store.increment("c/counter") }
        #expect(error?.code == .unavailable)
        await reader.close()
    }

    @Test
    func `A secret that is damaged is not used`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        #expect(try await host.secret().count == 32)
        #expect(try await host.secret() == host.secret())
        for contents in ["", "short"] {
            _ = try await host.record(.secret).update { _ in Array(contents.utf8) }
            let error = await #expect(throws: StatusError.self) { try await host.secret() }
            #expect(error?.code == .dataLoss)
        }
        await host.close()
    }

    @Test
    func `A program beside the servers takes no lease, and does not bring the tables to its version`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        // It may be the first to use the engine.
        for _ in 0..<2 {
            try await EngineRecord.withRecord(.keys, in: configuration, logger: .silent) { record throws(StatusError) in
                _ = try await record.update { ($0 ?? []) + [1] }
            }
        }
        let filling = try await EngineImport.begin(configuration, database: nil, logger: .silent)
        let time = try Timestamp(microseconds: 1)
        try await filling.write([try Document(path: DocumentPath("c/a"), fields: [:], createTime: time, updateTime: time)])
        try await filling.complete()
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let terms = try connection.execute(EngineStatement("SELECT max(term) FROM hearth.leases WHERE db IS NOT NULL"))
        #expect(terms.integer(0, 0) == 0)
        try server.execute("UPDATE hearth.format SET version = 1 WHERE id = 1", in: configuration)
        for action in ["record", "import"] {
            let error = await #expect(throws: StatusError.self) {
                if action == "import" {
                    _ = try await EngineImport.begin(configuration, database: nil, logger: .silent)
                } else {
                    try await EngineRecord.withRecord(.keys, in: configuration, logger: .silent) { _ in }
                }
            }
            #expect(error?.code == .failedPrecondition)
            #expect(error?.message.contains("hearth engine migrate") == true)
        }
        #expect(try connection.execute(EngineStatement("SELECT version FROM hearth.format WHERE id = 1")).integer(0, 0) == 1)
    }

    @Test
    func `A purge removes the rows of deleted databases`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let id = try DatabaseID("shop/a", inProject: "shop")
        let store = try await host.open(DatabaseIdentity(id))
        for _ in 0..<5 { try await store.increment("c/counter") }
        try await host.delete(id)
        await #expect(throws: StatusError.self) { try await store.increment("c/counter") }
        await #expect(throws: StatusError.self) { try await store.counter("c/counter") }
        await store.close()
        try await host.purgeDeletedDatabases()
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        for table in ["changes", "commits", "documents"] {
            #expect(try connection.execute(EngineStatement("SELECT count(*) FROM hearth.\(table)")).integer(0, 0) == 0)
        }
        #expect(try connection.execute(EngineStatement("SELECT count(*) FROM hearth.databases")).integer(0, 0) == 1)
        await host.close()
    }
}
