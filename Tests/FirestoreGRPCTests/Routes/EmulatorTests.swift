import DocumentModel
import FirestoreProto
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import Testing

/// Requests of programs that were made for Firestore's emulator.
@Suite(.timeLimit(.minutes(10))) struct EmulatorTests {
    @Test(arguments: [false, true])
    func `Programs that probe the server get Ok, browsers the pages`(requiresKey: Bool) async throws {
        try await withServer(hasPages: true) { server in
            if requiresKey { _ = try await server.makeKey(.reader) }
            try await withConnection(to: server) { connection in
                for fields in [[], ["Accept: */*"], ["Accept: application/json, text/plain, */*"]] {
                    let response = try await connection.send("GET", "/", fields)
                    #expect(response.status == 200)
                    #expect(response.body == "Ok")
                    #expect(response["content-type"] == "text/plain")
                }
                let page = try await connection.send("GET", "/", ["Accept: text/html,application/xhtml+xml,*/*;q=0.8"])
                #expect(page.body != "Ok")
                #expect(page["location"] == (requiresKey ? nil : "/admin/"))
            }
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.request("GET", "/")
                #expect(response.status == 200)
                #expect(response.body == Array("Ok".utf8))
                let head = try await connection.request("HEAD", "/")
                #expect(head.status == 200)
                #expect(head["content-length"] == "2")
                #expect(head.body.isEmpty)
            }
        }
    }

    @Test(arguments: ["(default)", "%28default%29"])
    func `Documents are cleared over HTTP/1.1 and HTTP/2`(database: String) async throws {
        let path = "/emulator/v1/projects/p/databases/\(database)/documents"
        try await withServer(allowsClearing: true) { server in
            try await withHTTP2Connection(to: server) { connection in
                try await server.set("books/x", [:])
                let cleared = try await connection.request("DELETE", path, [("authorization", "Bearer owner")])
                #expect(cleared.status == 200)
                #expect(cleared.body == Array("{}".utf8))
                #expect(try await connection.firestore("GetDocument", Self.get()).code == .notFound)
                try await server.set("books/x", [:])
                #expect(try await connection.firestore("GetDocument", Self.get()).isOK)
                try await withConnection(to: server) { connection in
                    let cleared = try await connection.send("DELETE", path)
                    #expect(cleared.status == 200)
                }
                #expect(try await connection.firestore("GetDocument", Self.get()).code == .notFound)
                _ = try await server.makeKey(.reader)
                let refused = try await connection.request("DELETE", path, [("authorization", "Bearer owner")])
                #expect(refused.status == 401)
            }
        }
    }

    @Test(arguments: ["p", "demo-shop", "example.com:shop", "123456789012"], ["(default)", "tests"])
    func `The names in messages decide, not those in headers`(project: String, database: String) async throws {
        let name = "projects/\(project)/databases/\(database)"
        let fields = [
            "Google-Cloud-Resource-Prefix: projects/other/databases/(default)",
            "X-Goog-Request-Params: projects/other/databases/(default)", "X-Goog-Api-Client: gl-test/1 fire/2",
        ]
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let commit = ProtoCommitRequest.make {
                    $0.database = name
                    $0.writes = [.make { $0.update.name = "\(name)/documents/books/x" }]
                }
                let committed = try await connection.firestore("Commit", commit, fields)
                #expect(committed.isOK)
                #expect(try await connection.firestore("GetDocument", Self.get(in: name), fields).isOK)
                let other = Self.get(in: "projects/other/databases/(default)")
                #expect(try await connection.firestore("GetDocument", other, fields).code == .notFound)
                let rest = try await connection.request("GET", "/v1/\(name)/documents/books/x")
                #expect(rest.status == 200)
            }
        }
    }

    private static func get(in database: String = databaseName) -> ProtoGetDocumentRequest {
        .make { $0.name = "\(database)/documents/books/x" }
    }
}
