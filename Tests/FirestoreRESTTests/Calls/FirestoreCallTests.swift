import DocumentModel
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// The calls of the Firestore REST API and their errors.
@Suite(.timeLimit(.minutes(10))) struct FirestoreCallTests {
    @Test
    func `A document is created, read, updated and deleted`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let fields = #"{"a":{"integerValue":"1"},"b":{"integerValue":"2"}}"#
                let created = try await connection.firestore("POST", "/books?documentId=x", #"{"fields":\#(fields)}"#)
                #expect(created["content-type"] == "application/json")
                #expect(created["cache-control"] == "no-store")
                #expect(created.text("name") == firestoreName("books/x"))
                #expect(created.text("createTime") == created.text("updateTime"))
                // JSON-RPC returns the same document.
                let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["books/x"]}"#
                #expect(try await connection.call(call).contains(#""fields":{"a":1,"b":2}"#))
                let changed = try await connection.firestore(
                    "PATCH",
                    "/books/x?update_mask.field_paths=b&updateMask.fieldPaths=c.d",
                    #"{"fields":{"c":{"mapValue":{"fields":{"d":{"nullValue":null}}}}}}"#
                )
                #expect(
                    changed.body.contains(
                        #""fields":{"a":{"integerValue":"1"},"c":{"mapValue":{"fields":{"d":{"nullValue":null}}}}}"#
                    )
                )
                #expect(changed.text("createTime") == created.text("createTime"))
                let before = created.text("updateTime") ?? ""
                let past = try await connection.firestore("GET", "/books/x?readTime=\(before)")
                #expect(past.body == created.body)
                let late = try await connection.firestore("DELETE", "/books/x?currentDocument.updateTime=\(before)")
                #expect(late.firestoreStatus == "FAILED_PRECONDITION")
                #expect(try await connection.firestore("DELETE", "/books/x").body == "{}")
                #expect(try await connection.firestore("GET", "/books/x").firestoreStatus == "NOT_FOUND")
            }
        }
    }

    @Test
    func `A commit verifies documents that it doesn't write`() async throws {
        try await withServer { server in
            try await server.set("books/read", ["a": .integer(1)])
            try await withConnection(to: server) { connection in
                func commit(_ condition: String, of verified: String) -> String {
                    #"{"writes":[{"verify":"\#(firestoreName(verified))","currentDocument":\#(condition)},"#
                        + #"{"update":{"name":"\#(firestoreName("books/written"))"}}]}"#
                }
                let rejected = [
                    (#"{"exists":false}"#, "books/read", "ALREADY_EXISTS"), (#"{"exists":true}"#, "books/none", "NOT_FOUND"),
                    (#"{"updateTime":"2014-09-09T08:00:47Z"}"#, "books/read", "FAILED_PRECONDITION"),
                ]
                for (condition, path, status) in rejected {
                    let response = try await connection.firestore("POST", ":commit", commit(condition, of: path))
                    #expect(response.firestoreStatus == status)
                }
                #expect(try await connection.firestore("GET", "/books/written").status == 404)
                let before = try await connection.firestore("GET", "/books/read")
                let time = try #require(before.text("updateTime"))
                let accepted = try await connection.firestore(
                    "POST",
                    ":commit",
                    commit(#"{"updateTime":"\#(time)"}"#, of: "books/read")
                )
                #expect(accepted.body.contains(#""writeResults":[{"updateTime":"\#(time)"},{"updateTime":""#))
                #expect(try await connection.firestore("GET", "/books/read").body == before.body)
                #expect(try await connection.firestore("GET", "/books/written").status == 200)
            }
        }
    }

    @Test
    func `A query is explained, with its results if they are requested`() async throws {
        try await withServer { server in
            for id in ["a", "b", "c"] { try await server.set("books/\(id)", ["n": .integer(1)]) }
            try await withConnection(to: server) { connection in
                let query = #""structuredQuery":{"from":[{"collectionId":"books"}],"limit":2}"#
                let plan = try await connection.firestore("POST", ":runQuery", #"{\#(query),"explainOptions":{}}"#)
                #expect(plan.body.contains(#"[{"explainMetrics":{"planSummary":{"indexesUsed":[{"step":"#))
                #expect(!plan.body.contains("executionStats"))
                #expect(!plan.body.contains("document\""))
                let analysis = try await connection.firestore(
                    "POST",
                    ":runQuery",
                    #"{\#(query),"explainOptions":{"analyze":true}}"#
                )
                #expect(analysis.body.contains(firestoreName("books/b")))
                #expect(analysis.body.contains(#""executionStats":{"resultsReturned":"2","executionDuration":""#))
                #expect(analysis.body.contains(#""debugStats":{"documents_scanned":""#))
                let count = #""structuredAggregationQuery":{\#(query),"aggregations":[{"count":{}}]}"#
                let counted = try await connection.firestore(
                    "POST",
                    ":runAggregationQuery",
                    #"{\#(count),"explainOptions":{"analyze":true}}"#
                )
                #expect(counted.body.contains(#""field_1":{"integerValue":"2"}"#))
                #expect(counted.body.contains(#""resultsReturned":"1""#))
            }
        }
    }

    @Test
    func `A write without changes keeps the update time and returns the document`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let created = try await connection.firestore("PATCH", "/books/x", #"{"fields":{"a":{"stringValue":"b"}}}"#)
                let again = try await connection.firestore("PATCH", "/books/x", #"{"fields":{"a":{"stringValue":"b"}}}"#)
                #expect(again.status == 200)
                #expect(again.body == created.body)
            }
        }
    }

    private static let failures: [(method: String, path: String, body: String?, code: Int, status: String)] = [
        ("GET", "/books/none", nil, 404, "NOT_FOUND"),
        ("GET", "/books//there", nil, 400, "INVALID_ARGUMENT"),
        ("DELETE", "/books/there//x/y", nil, 400, "INVALID_ARGUMENT"),
        ("PATCH", "/books/none?currentDocument.exists=true", "{}", 404, "NOT_FOUND"),
        ("POST", "/books?documentId=there", "{}", 409, "ALREADY_EXISTS"),
        ("POST", "/books?documentId=.", "{}", 400, "INVALID_ARGUMENT"),
        ("POST", "/books?documentId=a&documentId=b", "{}", 400, "INVALID_ARGUMENT"),
        ("POST", "/books", "{", 400, "INVALID_ARGUMENT"),
        ("POST", "/books", "[]", 400, "INVALID_ARGUMENT"),
        ("POST", "/books", #"{"field":{}}"#, 400, "INVALID_ARGUMENT"),
        ("POST", "/books/there", "{}", 404, "NOT_FOUND"),
        ("PATCH", "/books", "{}", 404, "NOT_FOUND"),
        ("DELETE", "/books", nil, 404, "NOT_FOUND"),
        ("PATCH", "/books/there?updateMask.fieldPaths=a..b", "{}", 400, "INVALID_ARGUMENT"),
        ("PATCH", "/books/there?updateMask.fieldPaths=__x__", "{}", 400, "INVALID_ARGUMENT"),
        ("PATCH", "/books/there?currentDocument.exists=yes", "{}", 400, "INVALID_ARGUMENT"),
        ("DELETE", "/books/there?currentDocument.updateTime=2999-01-01T00:00:00Z", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books/there?readTime=2999-01-01T00:00:00Z", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books/there?transaction=bm9uZQ", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books/there?alt=proto", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books/there?pageSize=1", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books?pageSize=-1", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/books?orderBy=a%20up", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/a%2Fb/c", nil, 400, "INVALID_ARGUMENT"),
        ("GET", "/a/%FF", nil, 400, "INVALID_ARGUMENT"),
        ("POST", ":listen", "{}", 501, "UNIMPLEMENTED"),
        ("POST", ":nothing", "{}", 404, "NOT_FOUND"),
        ("POST", "/books/there:commit", "{}", 404, "NOT_FOUND"),
        ("POST", ":commit", #"{"writes":[{}]}"#, 400, "INVALID_ARGUMENT"),
        ("POST", ":commit", #"{"writes":[{"delete":"books/there"}]}"#, 400, "INVALID_ARGUMENT"),
        ("POST", ":commit", #"{"updateMask":{},"update_mask":{}}"#, 400, "INVALID_ARGUMENT"),
        ("POST", ":rollback", "{}", 400, "INVALID_ARGUMENT"),
    ]

    @Test
    func `Errors have the form and status of Google APIs`() async throws {
        try await withServer { server in
            try await server.set("books/there", [:])
            try await withConnection(to: server) { connection in
                for failure in Self.failures {
                    let response = try await connection.firestore(failure.method, failure.path, failure.body)
                    #expect(response.status == failure.code, "\(failure): \(response.body)")
                    #expect(response.firestoreStatus == failure.status, "\(failure)")
                    #expect(response.body.utf8.starts(with: #"{"error":{"code":\#(failure.code),"message":""#.utf8))
                }
            }
        }
    }

    @Test
    func `The error of a streaming call is wrapped in an array`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for verb in ["runQuery", "batchGet", "runAggregationQuery"] {
                    let response = try await connection.firestore("POST", ":\(verb)", #"{"x":1}"#)
                    #expect(response.status == 400)
                    #expect(response.body.utf8.starts(with: #"[{"error":{"code":400,"#.utf8))
                }
            }
        }
    }

    @Test
    func `Messages contain the strings that client libraries match`() async throws {
        try await withServer { server in
            try await server.set("books/there", [:])
            try await withConnection(to: server) { connection in
                let missing = try await connection.firestore("PATCH", "/books/none?currentDocument.exists=true", "{}")
                #expect(missing.body.contains("No document to update: books/none"))
                let present = try await connection.firestore("POST", "/books?documentId=there", "{}")
                #expect(present.body.contains("Document already exists: books/there"))
                let expired = try await connection.firestore("POST", ":commit", #"{"transaction":"bm9uZQ=="}"#)
                #expect(expired.body.contains("transaction has expired"))
                let empty = try await connection.firestore(
                    "POST",
                    ":runAggregationQuery",
                    #"{"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"a"}]}}}"#
                )
                #expect(empty.body.contains("Aggregations can not be empty"))
            }
        }
    }

    @Test
    func `Google's standard query parameters and requestOptions are ignored`() async throws {
        try await withServer { server in
            try await server.set("books/x", [:])
            try await withConnection(to: server) { connection in
                let plain = try await connection.firestore("GET", "/books/x").body
                let query = "%24alt=json%3Benum-encoding%3Dint&alt=json&$prettyPrint=true&key=abc"
                #expect(try await connection.firestore("GET", "/books/x?requestOptions.requestTags=t&" + query).body == plain)
                let path = "/v1/projects/p/databases/%28default%29/documents/books/%78?" + query
                #expect(try await connection.send("GET", path).body == plain)
                let body = #"{"writes":[],"requestOptions":{"requestTags":["t"]}}"#
                #expect(try await connection.firestore("POST", ":commit?" + query, body).status == 200)
            }
        }
    }

    @Test
    func `IDs may contain colons, spaces and non-ASCII characters, encoded or not`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for (sent, name) in [
                    ("a:b", "a:b"), ("a%20%C3%A9", "a é"), ("x%3AbatchGet", "x:batchGet"), ("__id7__", "__id7__"),
                ] {
                    let created = try await connection.firestore("PATCH", "/books/\(sent)", "{}")
                    #expect(created.text("name") == firestoreName("books/\(name)"))
                    let added = try await connection.firestore("POST", "/\(sent.replacing("__", with: ""))?documentId=y", "{}")
                    #expect(added.text("name") == firestoreName("\(name.replacing("__", with: ""))/y"))
                }
            }
        }
    }

    @Test
    func `Unknown paths get 404 in the form of Google APIs`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/v1/", "/v1/projects", "/v1/projects/p/databases/(default)", "/v1/x/p/y/d/documents/a/b"] {
                    let response = try await connection.send("GET", path)
                    #expect(response.status == 404)
                    #expect(response.firestoreStatus == "NOT_FOUND")
                }
            }
        }
    }
}
