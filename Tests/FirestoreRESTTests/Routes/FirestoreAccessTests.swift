import DocumentModel
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Testing

/// Authentication and origins of the Firestore REST API.
@Suite(.timeLimit(.minutes(10))) struct FirestoreAccessTests {
    @Test
    func `Without keys, the emulator's owner token is ignored`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.firestore("PATCH", "/c/d", "{}", fields: ["Authorization: Bearer owner"])
                #expect(response.status == 200)
            }
        }
    }

    @Test
    func `Keys are limited to their role and collections`() async throws {
        try await withServer { server in
            let reader = try await server.makeKey(.reader)
            let writer = try await server.makeKey(.writer, collections: ["c"])
            try await server.set("e/f", [:])
            let query = #"{"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}]}}"#
            let commit = #"{"writes":[{"delete":"\#(firestoreName("e/f"))"}]}"#
            let requests: [(key: String?, method: String, path: String, body: String?, outcome: String)] = [
                (nil, "GET", "/e/f", nil, "UNAUTHENTICATED"),
                ("owner", "GET", "/e/f", nil, "UNAUTHENTICATED"),
                ("owner", "POST", ":runQuery", query, "UNAUTHENTICATED"),
                (reader, "GET", "/e/f", nil, "200"),
                (reader, "POST", ":runQuery", query, "200"),
                (reader, "PATCH", "/c/d", "{}", "PERMISSION_DENIED"),
                (reader, "POST", ":batchWrite", "{}", "PERMISSION_DENIED"),
                (writer, "PATCH", "/c/d", "{}", "200"),
                (writer, "GET", "/e/f", nil, "PERMISSION_DENIED"),
                (writer, "POST", ":runQuery", query, "PERMISSION_DENIED"),
                (writer, "POST", ":commit", commit, "PERMISSION_DENIED"),
            ]
            try await withConnection(to: server) { connection in
                for request in requests {
                    let response = try await connection.firestore(
                        request.method,
                        request.path,
                        request.body,
                        fields: request.key.map { ["Authorization: Bearer \($0)"] } ?? []
                    )
                    #expect(response.firestoreStatus ?? "\(response.status)" == request.outcome, "\(request)")
                }
            }
        }
    }

    @Test
    func `text/plain bodies are accepted with a header that no form can send`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let path = "/v1/projects/p/databases/(default)/documents:commit"
                for (fields, status) in [
                    (["Content-Type: text/plain", "X-Goog-Api-Client: gl-js/ fire/12"], 200),
                    (["Content-Type: text/plain;charset=UTF-8", "Authorization: Bearer owner"], 200),
                    (["Content-Type: text/plain"], 415),
                    (["Content-Type: application/x-www-form-urlencoded", "Authorization: Bearer owner"], 415),
                    ([], 415),
                ] {
                    let response = try await connection.send("POST", path, fields, body: "{}")
                    #expect(response.status == status, "\(fields)")
                }
            }
        }
    }

    @Test
    func `Allowed origins may make calls`() async throws {
        try await withServer(.standard.with(\.allowedOrigins, ["https://app.example"])) { server in
            try await withConnection(to: server) { connection in
                let origin = "Origin: https://app.example"
                let preflight = try await connection.firestore(
                    "OPTIONS",
                    "/c/d",
                    fields: [origin, "Access-Control-Request-Method: PATCH"]
                )
                #expect(preflight.status == 204)
                #expect(preflight["access-control-allow-methods"] == "DELETE, GET, HEAD, PATCH, POST")
                #expect(preflight["access-control-allow-credentials"] == "true")
                let changed = try await connection.firestore("PATCH", "/c/d", "{}", fields: [origin])
                #expect(changed.status == 200)
                #expect(changed["access-control-allow-origin"] == "https://app.example")
                let rejected = try await connection.firestore("PATCH", "/c/d", "{}", fields: ["Origin: https://other.example"])
                #expect(rejected.status == 403)
                #expect(rejected.firestoreStatus == "PERMISSION_DENIED")
            }
        }
    }

    @Test
    func `Clearing the database requires --allow-clearing and write access`() async throws {
        let path = "/emulator/v1/projects/p/databases/(default)/documents"
        try await withServer { server in
            try await server.set("c/d", [:])
            try await withConnection(to: server) { connection in
                let response = try await connection.send("DELETE", path)
                #expect(response.status == 403)
                #expect(response.firestoreStatus == "PERMISSION_DENIED")
                #expect(try await connection.firestore("GET", "/c/d").status == 200)
            }
        }
        try await withServer(allowsClearing: true) { server in
            try await server.set("c/d", [:])
            try await server.set("c/d/e/f", [:])
            let keys = [try await server.makeKey(.reader), try await server.makeKey(.writer, collections: ["c"])]
            let key = "Authorization: Bearer \(try await server.makeKey(.writer))"
            try await withConnection(to: server) { connection in
                for rejected in keys {
                    #expect(try await connection.send("DELETE", path, ["Authorization: Bearer \(rejected)"]).status == 403)
                }
                #expect(try await connection.firestore("GET", "/c/d", fields: [key]).status == 200)
                let response = try await connection.send("DELETE", path, [key])
                #expect(response.status == 200)
                #expect(response.body == "{}")
                #expect(try await connection.firestore("GET", "/c/d/e/f", fields: [key]).status == 404)
                #expect(try await connection.send("DELETE", path + "/c", [key]).status == 404)
            }
        }
    }
}
