import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import Logging
import ServerTestSupport
import TestSupport
import Testing
import UTF8Text

@Suite("Responses during a rebuild of the index")
struct RebuildResponseTests {
    private static var other: DatabaseID { get throws { try DatabaseID(project: "p", database: "other") } }

    private let gate = ScanGate()

    /// Runs `body` with a server whose databases have documents but no index, while rebuilds are held.
    private func withHeldRebuild(
        of databases: [DatabaseID?],
        _ body: @Sendable (InProcessServer) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await withServer(hasPages: true) { [gate] configuration in
            configuration.willScanForIndex = { gate.pass() }
            configuration.indexWaitDocumentCount = 0
            let host = try await FileStoreHost.open(configuration, logger: logger)
            for database in databases {
                let store: any DocumentStore =
                    if let database { try await host.open(DatabaseIdentity(database)) } else { host.defaultStore }
                for id in ["a", "b", "c"] {
                    _ = try await store.commit([.set(DocumentPath("places/\(id)"), ["n": .integer(1)])])
                }
                if database != nil { await (store as? any ClosableStore)?.close() }
            }
            if let failure = await host.close() { throw failure }
            for database in databases {
                let folder = database == nil ? "" : "/databases/p/other"
                try FileManager.default.removeItem(atPath: configuration.folder + folder + "/index.sqlite")
            }
            if databases.contains(where: { $0 == nil }) { gate.close() }
        } _: { [gate] server in
            defer { gate.open() }
            try await body(server)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Queries are answered with the progress, in the form of each protocol`() async throws {
        try await withHeldRebuild(of: [nil]) { [gate] server in
            try await withConnection(to: server) { connection in
                let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
                while try await !connection.call(info).contains(#""state":"building","documentsDone":0,"documentsTotal":3"#) {}

                let query = #"{"jsonrpc":"2.0","id":1,"method":"query.run","params":{"collection":"places"}}"#
                let error = try await connection.call(query)
                #expect(error.contains("The index is being rebuilt: 0 % complete, 0 of 3 documents read."))
                #expect(error.contains(#""progress":{"documentsDone":0,"documentsTotal":3,"percent":0}"#))
                #expect(error.contains(#""retryAfterMilliseconds":"#))

                let rest = try await connection.send(
                    "POST",
                    "/v1/projects/p/databases/(default)/documents:runQuery",
                    ["Content-Type: application/json"],
                    body: #"{"structuredQuery":{"from":[{"collectionId":"places"}]}}"#
                )
                #expect(rest.status == 503)
                #expect(rest["retry-after"] != nil)
                #expect(rest.body.contains(#""UNAVAILABLE""#) && rest.body.contains("0 of 3 documents read"))

                let page = try await connection.send("GET", "/admin/data/places?where=n%20%3D%3D%201")
                #expect(page.status == 503)
                #expect(page["retry-after"] != nil)
                #expect(page.body.contains("<h1>The index is being rebuilt</h1>"))
                #expect(page.body.contains(#"<progress value="0" max="100""#))
                #expect(page.body.contains("0% complete · 0 of 3 documents"))
                #expect(page.body.contains("data-refreshes"))

                let health = try await connection.send("GET", "/health")
                #expect(health.status == 503)
                #expect(health.body.contains("The index is being rebuilt: 0 % complete, 0 of 3 documents read."))

                // Reads that need no index.
                for path in [
                    "/admin/", "/admin/data/places", "/admin/data/places/a",
                    "/v1/projects/p/databases/(default)/documents/places/a",
                    "/v1/projects/p/databases/(default)/documents/places",
                ] {
                    #expect(try await connection.send("GET", path).status == 200, "\(path)")
                }
                let batch = #"{"jsonrpc":"2.0","id":1,"method":"documents.batchGet","params":{"paths":["places/a","places/x"]}}"#
                #expect(try await connection.call(batch).contains(#""result""#))

                gate.open()
                while try await connection.send("GET", "/health").status != 200 {}
                #expect(try await connection.call(query).contains(#""result""#))
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A key that is limited to collections is not told how many documents there are`() async throws {
        try await withHeldRebuild(of: [nil]) { [gate] server in
            let key = try await server.makeKey(.reader, collections: ["places"])
            try await withConnection(to: server) { connection in
                let error = try await connection.send(
                    "POST",
                    "/rpc",
                    ["Content-Type: application/json", "Authorization: Bearer \(key)"],
                    body: #"{"jsonrpc":"2.0","id":1,"method":"query.run","params":{"collection":"places"}}"#
                ).body
                #expect(error.contains("The index is being rebuilt") && error.contains("retryAfterMilliseconds"))
                #expect(!error.contains("documents") && !error.contains("progress"))
            }
            gate.open()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `The server is not healthy while the index of an open additional database is being rebuilt`() async throws {
        try await withHeldRebuild(of: [try Self.other]) { [gate] server in
            try await withConnection(to: server) { connection in
                while try await !connection.call(#"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#).contains(
                    #""state":"ready""#
                ) {}
                gate.close()
                #expect(try await connection.send("GET", "/health").status == 200)
                let get = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"places/a","database":"other"}}"#
                #expect(try await connection.call(get).contains(#""result""#))
                while try await connection.send("GET", "/health").status == 200 {}
                let health = try await connection.send("GET", "/health")
                #expect(health.status == 503)
                #expect(health.body.contains(#"\"p/other\" is not ready: The index is being rebuilt: 0 % complete, "#))
                gate.open()
                while try await connection.send("GET", "/health").status != 200 {}
            }
        }
    }
}
