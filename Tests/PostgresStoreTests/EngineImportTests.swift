import DocumentModel
import DocumentStore
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Import into an engine", EngineServer.condition)
struct EngineImportTests {
    private func documents(_ count: Int) throws -> [Document] {
        let time = try Timestamp(microseconds: 1_000_000)
        return try (0..<count).map { number in
            try Document(
                path: DocumentPath("c/\(number)/d/x"),
                fields: ["v": .integer(Int64(number))],
                createTime: time,
                updateTime: time
            )
        }
    }

    @Test(arguments: [nil, "a"])
    func `An import that fails leaves an empty database, with its keys and its servers`(_ name: String?) async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let id = try name.map { try DatabaseID("shop/\($0)", inProject: "shop") }
        try await EngineRecord.withRecord(.keys, in: configuration, logger: .silent) { record throws(StatusError) in
            _ = try await record.update { _ in [1, 2, 3] }
        }
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = if let id { try await host.open(DatabaseIdentity(id)) as any DocumentStore } else { host.defaultStore }
        let epoch = store.position.epoch
        for count in [0, 20] {
            let filling = try await EngineImport.begin(configuration, database: id, logger: .silent)
            if count > 0 { try await filling.write(documents(count)) }
            try await filling.discard()
        }
        #expect(try await host.record(.keys).snapshot().bytes == [1, 2, 3])
        #expect(try await store.size(of: nil as CollectionPath?) == .zero)
        #expect(try await store.document(at: DocumentPath("c/1/d/x"), readTime: nil) == nil)
        try server.expectConsistentEntries(configuration)
        // A server that was there all along serves the database.
        #expect(try await store.increment("c/counter").sequence == SequenceNumber(1))
        #expect(store.position.epoch == epoch)
        await host.close()
    }

    @Test
    func `What a server has written during an import stays, and the import says so`() async throws {
        let server = try await EngineServer.shared.value
        for completes in [true, false] {
            let configuration = try await server.makeConfiguration()
            let filling = try await EngineImport.begin(configuration, database: nil, logger: .silent)
            try await filling.write(documents(5))
            let host = try await PostgresHost.open(configuration, logger: .silent)
            try await host.store.increment("kept/counter")
            let error = await #expect(throws: StatusError.self) {
                if completes { try await filling.complete() } else { try await filling.discard() }
            }
            #expect(error?.code == .failedPrecondition)
            // Has no effect any more.
            try await filling.discard()
            #expect(try await host.store.counter("kept/counter") == 1)
            #expect(try await host.store.counter("c/4/d/x") == 4)
            #expect(try await host.store.allCommits().count == 2)
            await host.close()
        }
    }
}
