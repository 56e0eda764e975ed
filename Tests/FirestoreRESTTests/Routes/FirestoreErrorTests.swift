import DocumentModel
import DocumentStore
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@Suite("Errors of the Firestore REST API", .timeLimit(.minutes(10)))
struct FirestoreErrorTests {
    @Test(
        arguments: [
            (
                #""where":{"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"a"},"op":"NOT_IN","value":{"arrayValue":{"values":[{"integerValue":1}]}}}},{"unaryFilter":{"field":{"fieldPath":"b"},"op":"IS_NOT_NULL"}}]}}"#,
                "structuredQuery.where.compositeFilter.filters[1].unaryFilter.op"
            ),
            (
                #""where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"IN","value":{"arrayValue":{}}}}"#,
                "structuredQuery.where.fieldFilter.value"
            ),
            (
                #""where":{"fieldFilter":{"field":{"fieldPath":"__name__"},"op":"IN","value":{"arrayValue":{"values":[{"integerValue":1}]}}}}"#,
                "structuredQuery.where.fieldFilter.value.arrayValue.values[0]"
            ),
            (
                #""where":{"compositeFilter":{"op":"OR","filters":[{"compositeFilter":{"op":"AND","filters":[]}}]}}"#,
                "structuredQuery.where.compositeFilter.filters[0].compositeFilter"
            ),
            (#""orderBy":[{"field":{"fieldPath":"a"}},{"field":{"fieldPath":"a"}}]"#, "structuredQuery.orderBy[1]"),
            (#""startAt":{"values":[{"integerValue":1}]}"#, "structuredQuery.startAt.values[0]"),
            (#""endAt":{"values":[{"integerValue":1}],"before":true}"#, "structuredQuery.endAt.values[0]"),
            (#""limit":-1"#, "structuredQuery.limit"), (#""limit":{"value":1}"#, "structuredQuery.limit"),
            (#""select":{"fields":[{"fieldPath":"__x__"}]}"#, "structuredQuery.select.fields[0]"),
            (
                #""findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{}}}}},"distanceMeasure":"COSINE","limit":1}"#,
                "structuredQuery.findNearest.queryVector"
            ),
        ]
    )
    func `Errors in a query have the path in the request message`(clause: String, path: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let body = #"{"structuredQuery":{"from":[{"collectionId":"c"}],\#(clause)}}"#
                let response = try await connection.firestore("POST", ":runQuery", body)
                #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                #expect(response.body.contains("at \(path))") || response.body.contains("at \(path),"), "\(response.body)")
                for foreign in ["$reference", "where.and", "where.or", "startAfter", "endBefore"] {
                    #expect(!response.body.contains(foreign))
                }
            }
        }
    }

    @Test
    func `Errors in an aggregation have the path in the request message`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let query = #""structuredQuery":{"from":[{"collectionId":"c"}]}"#
                let body = #"{"structuredAggregationQuery":{\#(query),"aggregations":[{"avg":{"field":{"fieldPath":"__x__"}}}]}}"#
                let response = try await connection.firestore("POST", ":runAggregationQuery", body)
                #expect(response.body.contains("at structuredAggregationQuery.aggregations[0].avg.field"), "\(response.body)")
            }
        }
    }

    @Test
    func `The error for too many disjunctions does not expose an overflowed count`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let values = (0..<30).map { #"{"integerValue":\#($0)}"# }.joined(separator: ",")
                let filters = (0..<20).map {
                    #"{"fieldFilter":{"field":{"fieldPath":"f\#($0)"},"op":"IN","value":{"arrayValue":{"values":[\#(values)]}}}}"#
                }
                let filter = #"{"compositeFilter":{"op":"AND","filters":[\#(filters.joined(separator: ","))]}}"#
                let body = #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":\#(filter)}}"#
                let response = try await connection.firestore("POST", ":runQuery", body)
                #expect(response.body.contains("at most 30 disjunctions"))
                #expect(!response.body.contains("9223372036854775807"))
            }
        }
    }

    @Test
    func `An invalid write in a batch does not affect the others`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                func write(_ id: String, _ rest: String) -> String {
                    #"{"update":{"name":"\#(firestoreName("c/\(id)"))",\#(rest)}"#
                }
                let value = #"{"integerValue":"1"}"#
                let writes = [
                    write("a", #""fields":{"n":\#(value)}}"#),
                    write("b", #""fields":{"__n__":\#(value)}}"#),
                    write("c", #""fields":{}},"updateMask":{"fieldPaths":["__n__"]}"#),
                    write("d", #""fields":{}},"updateTransforms":[{"fieldPath":"n","increment":{"stringValue":"x"}}]"#),
                    write("e", #""fields":{"n":\#(value)}}"#),
                ]
                let response = try await connection.firestore(
                    "POST",
                    ":batchWrite",
                    #"{"writes":[\#(writes.joined(separator: ","))]}"#
                )
                #expect(response.status == 200)
                let root = try JSONText(response.body).root
                let codes = root["status"]?.elements?.map { $0["code"]?.number }
                #expect(codes == [nil, .integer(3), .integer(3), .integer(3), nil])
                #expect(root["writeResults"]?.count == 5)
                for (id, status) in [("a", 200), ("b", 404), ("c", 404), ("d", 404), ("e", 200)] {
                    #expect(try await connection.firestore("GET", "/c/\(id)").status == status)
                }
                // A commit fails as a whole and names the write.
                let commit = try await connection.firestore("POST", ":commit", #"{"writes":[\#(writes.joined(separator: ","))]}"#)
                #expect(commit.firestoreStatus == "INVALID_ARGUMENT")
                #expect(commit.body.contains("writes[1]"))
            }
        }
    }

    @Test
    func `Bidirectional control characters in a path are escaped`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.firestore("GET", "/c/a%E2%80%AEb")
                #expect(response.status == 404)
                #expect(response.text("error") == nil)
                #expect(!response.body.unicodeScalars.contains("\u{202E}"))
                #expect(response.body.contains(#"c/a\\u{202E}b"#))
                let update = try await connection.firestore("PATCH", "/c/a%E2%80%AEb?currentDocument.exists=true", "{}")
                #expect(!update.body.unicodeScalars.contains("\u{202E}"))
            }
        }
    }

    @Test
    func `Unsupported HTTP methods get 405 with Allow`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let path = "/v1/projects/p/databases/(default)/documents/c/d"
                let put = try await connection.send("PUT", path, ["Content-Type: application/json"], body: "{}")
                #expect(put.status == 405)
                #expect(put.firestoreStatus == "UNIMPLEMENTED")
                #expect(put["allow"] == "GET, HEAD, POST, PATCH, DELETE, OPTIONS")
                let options = try await connection.send("OPTIONS", path)
                #expect(options.status == 204)
                #expect(options["allow"] == "GET, HEAD, POST, PATCH, DELETE, OPTIONS")
                #expect(try await connection.send("GET", "/emulator/v1/projects/p/databases/d/documents").status == 405)
            }
        }
    }

    @Test(
        arguments: ["/v1/projects/p/databases/(default)/documents/c/a#b", "/health#x"]
    )
    func `An unencoded # in the target is rejected`(target: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", target)
                #expect(response.status == 400)
                #expect(response.body.contains("%23"))
            }
        }
    }

    @Test
    func `Damaged documents are counted in a header`() async throws {
        try await withServer { server in
            for id in ["a", "b", "c"] { try await server.set("c/\(id)", ["n": .integer(1)]) }
            try server.write("{", toFile: "documents/c/b.json")
            try await withConnection(to: server) { connection in
                let query = #"{"structuredQuery":{"from":[{"collectionId":"c"}]}}"#
                for (method, path, body) in [("GET", "/c", nil), ("POST", ":runQuery", query)] as [(String, String, String?)] {
                    let response = try await connection.firestore(method, path, body)
                    #expect(response.status == 200)
                    #expect(response["hearth-damaged-documents"] == "1", "\(path)")
                }
                #expect(try await connection.firestore("GET", "/d")["hearth-damaged-documents"] == nil)
            }
        }
    }

    @Test
    func `An invalid read time is rejected when the transaction begins`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let options = #"{"options":{"readOnly":{"readTime":"2999-01-01T00:00:00Z"}}}"#
                let response = try await connection.firestore("POST", ":beginTransaction", options)
                #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                #expect(response.body.contains("in the future"))
                #expect(server.context.transactions.count == 0)
            }
        }
    }
}
