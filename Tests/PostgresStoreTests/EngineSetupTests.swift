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
            "postgresql://hearth:secret@localhost/db", "postgresql://localhost/db?password=secret", "mysql://secret@h/db",
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
    func `Tables of another version are refused, with what to do`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        #expect(try await PostgresHost.migrate(configuration, logger: .silent) == (0, EngineSchema.version))
        #expect(try await PostgresHost.migrate(configuration, logger: .silent) == (EngineSchema.version, EngineSchema.version))
        try server.execute("UPDATE hearth.format SET version = 1000", in: configuration)
        let newer = await failure(configuration)
        #expect(newer?.code == .failedPrecondition)
        #expect(newer?.message.contains("version 1000") == true)
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
        #expect(await host.store.writeBlockedReason == nil)
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
