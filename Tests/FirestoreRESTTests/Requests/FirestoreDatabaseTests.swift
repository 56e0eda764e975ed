import Foundation
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// Each project and database ID is a separate database.
@Suite("Databases of the Firestore REST API", .timeLimit(.minutes(10)))
struct FirestoreDatabaseTests {
    private static let databases = [
        "projects/p/databases/(default)", "projects/p/databases/other", "projects/q/databases/(default)",
        "projects/q/databases/other", "projects/caf%C3%A9/databases/a%20b",
    ]

    @Test
    func `Databases are separate`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for (number, database) in Self.databases.enumerated() {
                    let absent = try await connection.firestore("GET", "/c/d", in: database)
                    #expect(absent.firestoreStatus == "NOT_FOUND")
                    #expect(absent.body.contains("Document not found"))
                    let body = #"{"fields":{"n":{"integerValue":"\#(number)"}}}"#
                    #expect(try await connection.firestore("PATCH", "/c/d", body, in: database).status == 200)
                }
                for (number, database) in Self.databases.enumerated() {
                    let response = try await connection.firestore("GET", "/c/d", in: database)
                    #expect(response.body.contains(#"{"integerValue":"\#(number)"}"#))
                    #expect(response.text("name") == "\(database.removingPercentEncoding ?? "")/documents/c/d")
                }
            }
        }
    }

    @Test
    func `JSON-RPC and watch streams address the same databases`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let body = #"{"fields":{"n":{"integerValue":"1"}}}"#
                for database in Self.databases { _ = try await connection.firestore("PATCH", "/c/d", body, in: database) }
                for name in ["(default)", "p/(default)", "other", "p/other", "q/(default)", "q/other", "café/a b"] {
                    let params = #"{"path":"c/d","database":"\#(name)"}"#
                    let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":\#(params)}"#
                    let response = try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: call)
                    #expect(response.body.contains(#""fields":{"n":1}"#))
                }
            }
            let watched = try await withConnection(to: server) { connection in
                try await connection.stream("/watch?collection=c&database=q/other", until: #""type":"current""#)
            }
            #expect(watched.contains(#""path":"c/d""#))
        }
    }

    @Test
    func `The emulator's clear call affects one database`() async throws {
        try await withServer(allowsClearing: true) { server in
            try await withConnection(to: server) { connection in
                let body = #"{"fields":{}}"#
                for database in Self.databases { _ = try await connection.firestore("PATCH", "/c/d", body, in: database) }
                for database in [Self.databases[1], "projects/none/databases/none"] {
                    #expect(try await connection.send("DELETE", "/emulator/v1/\(database)/documents").status == 200)
                }
                for (number, database) in Self.databases.enumerated() {
                    #expect(try await connection.firestore("GET", "/c/d", in: database).status == (number == 1 ? 404 : 200))
                }
                let projects = try FileManager.default.contentsOfDirectory(atPath: server.folder + "/databases")
                #expect(Set(projects) == ["p", "q", "café"])
            }
        }
    }

    @Test
    func `Document names, page tokens and transactions of another database are rejected`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let other = Self.databases[1]
                for id in ["a", "b"] {
                    for database in [Self.databases[0], other] {
                        _ = try await connection.firestore(
                            "PATCH",
                            "/c/\(id)",
                            #"{"fields":{"v":{"integerValue":"1"}}}"#,
                            in: database
                        )
                    }
                }
                let write = #"{"writes":[{"delete":"\#(firestoreName("c/a"))"}]}"#
                #expect(try await connection.firestore("POST", ":commit", write, in: other).firestoreStatus == "INVALID_ARGUMENT")
                for list in ["/c?pageSize=1", "/?pageSize=1", "/c?pageSize=1&orderBy=v", "/c?pageSize=1&recursive=true"] {
                    let page = try await connection.firestore("GET", list)
                    let token = try #require(page.text("nextPageToken"))
                    #expect(try await connection.firestore("GET", "\(list)&pageToken=\(token)").status == 200)
                    let rejected = try await connection.firestore("GET", "\(list)&pageToken=\(token)", in: other)
                    #expect(rejected.firestoreStatus == "INVALID_ARGUMENT")
                    #expect(rejected.body.contains("another database"))
                }
                let begun = try await connection.firestore("POST", ":beginTransaction", "{}")
                let transaction = try #require(begun.text("transaction"))
                let commit = #"{"transaction":"\#(transaction)"}"#
                let rejected = try await connection.firestore("POST", ":commit", commit, in: other)
                #expect(rejected.firestoreStatus == "INVALID_ARGUMENT")
                #expect(rejected.body.contains("transaction has expired"))
                #expect(try await connection.firestore("POST", ":commit", commit).status == 200)
            }
        }
    }

    @Test(arguments: ["projects/../databases/d", "projects/p/databases/a%2Fb"])
    func `Invalid database names are rejected`(database: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.firestore("PATCH", "/c/d", #"{"fields":{}}"#, in: database)
                #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                #expect(!FileManager.default.fileExists(atPath: server.folder + "/databases"))
            }
        }
    }
}
