import DocumentModel
import HearthService
import StrictJSON
import Testing

@testable import HearthServer

/// Which calls of Firestore's interface there are, and how they and their failures are carried by HTTP.
@Suite(.timeLimit(.minutes(1))) struct FirestoreCallTests {
    @Test("A document is made, read, changed and deleted")
    func document() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let fields = #"{"a":{"integerValue":"1"},"b":{"integerValue":"2"}}"#
                let made = try await connection.firestore("POST", "/books?documentId=x", #"{"fields":\#(fields)}"#)
                #expect(made["content-type"] == "application/json")
                #expect(made["cache-control"] == "no-store")
                #expect(made.text("name") == firestoreName("books/x"))
                #expect(made.text("createTime") == made.text("updateTime"))
                // By JSON-RPC it is the same document.
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
                #expect(changed.text("createTime") == made.text("createTime"))
                let before = made.text("updateTime") ?? ""
                let past = try await connection.firestore("GET", "/books/x?readTime=\(before)")
                #expect(past.body == made.body)
                let late = try await connection.firestore("DELETE", "/books/x?currentDocument.updateTime=\(before)")
                #expect(late.firestoreStatus == "FAILED_PRECONDITION")
                #expect(try await connection.firestore("DELETE", "/books/x").body == "{}")
                #expect(try await connection.firestore("GET", "/books/x").firestoreStatus == "NOT_FOUND")
            }
        }
    }

    @Test("A change that is none keeps the update time, and is answered with the document")
    func noChange() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let made = try await connection.firestore("PATCH", "/books/x", #"{"fields":{"a":{"stringValue":"b"}}}"#)
                let again = try await connection.firestore("PATCH", "/books/x", #"{"fields":{"a":{"stringValue":"b"}}}"#)
                #expect(again.status == 200)
                #expect(again.body == made.body)
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

    @Test("A failure is told in Google's form, with its status")
    func failures() async throws {
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

    @Test("A failure of a streaming call stands in a list")
    func failureInList() async throws {
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

    @Test("The texts that clients look for are in the messages")
    func texts() async throws {
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

    @Test("Parameters of all of Google's methods, and what is said for their accounts, make no difference")
    func commonParameters() async throws {
        try await withServer { server in
            try await server.set("books/x", [:])
            try await withConnection(to: server) { connection in
                let plain = try await connection.firestore("GET", "/books/x").body
                let query = "%24alt=json%3Benum-encoding%3Dint&alt=json&$prettyPrint=true&key=abc"
                #expect(try await connection.firestore("GET", "/books/x?requestOptions.requestTags=t&" + query).body == plain)
                let path = "/v1/projects/p/databases/%28default%29/documents/books/%78?" + query
                #expect(try await connection.ask("GET", path).body == plain)
                let body = #"{"writes":[],"requestOptions":{"requestTags":["t"]}}"#
                #expect(try await connection.firestore("POST", ":commit?" + query, body).status == 200)
            }
        }
    }

    @Test("IDs may have colons, spaces and letters of every script, encoded or not")
    func identifiers() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for (sent, name) in [
                    ("a:b", "a:b"), ("a%20%C3%A9", "a é"), ("x%3AbatchGet", "x:batchGet"), ("__id7__", "__id7__"),
                ] {
                    let made = try await connection.firestore("PATCH", "/books/\(sent)", "{}")
                    #expect(made.text("name") == firestoreName("books/\(name)"))
                    let added = try await connection.firestore("POST", "/\(sent.replacing("__", with: ""))?documentId=y", "{}")
                    #expect(added.text("name") == firestoreName("\(name.replacing("__", with: ""))/y"))
                }
            }
        }
    }

    @Test("There is nothing at other paths, and that is told in Google's form")
    func otherPaths() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/v1/", "/v1/projects", "/v1/projects/p/databases/(default)", "/v1/x/p/y/d/documents/a/b"] {
                    let response = try await connection.ask("GET", path)
                    #expect(response.status == 404)
                    #expect(response.firestoreStatus == "NOT_FOUND")
                }
            }
        }
    }
}
