import Concurrency
import DocumentModel
import HearthAPI
import JSONRPC
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// Lists, queries and batch reads of the Firestore REST API.
@Suite(.timeLimit(.minutes(10))) struct FirestoreReadTests {
    private static func names(_ paths: String...) -> String {
        paths.map { #"{"document":{"name":"\#(firestoreName($0))"}}"# }.joined(separator: ",\n")
    }

    @Test
    func `batchGet returns existing documents first, without duplicates, as of one time`() async throws {
        try await withServer { server in
            try await server.set("c/a", ["n": .integer(1), "m": .integer(2)])
            try await withConnection(to: server) { connection in
                let names = ["c/none", "c/a", "c/a"].map { #""\#(firestoreName($0))""# }.joined(separator: ",")
                let body = #"{"documents":[\#(names)],"mask":{"fieldPaths":["n"]}}"#
                let found = try await connection.firestoreWithoutTimes("POST", ":batchGet", body)
                let first = #"{"found":{"name":"\#(firestoreName("c/a"))","fields":{"n":{"integerValue":"1"}}}}"#
                #expect(found == "[\(first),\n{\"missing\":\"\(firestoreName("c/none"))\"}\n]")
                let times = try await connection.firestore("POST", ":batchGet", body).body
                    .matches(of: #/"readTime":"([^"]*)"/#).map(\.1)
                #expect(times.count == 2 && times.first == times.last)
            }
        }
    }

    @Test
    func `runQuery returns one message per document, or only the read time without results`() async throws {
        try await withServer { server in
            for number in 0..<3 { try await server.set("c/\(number)", ["n": .integer(Int64(number))]) }
            try await withConnection(to: server) { connection in
                let order = #","orderBy":[{"field":{"fieldPath":"n"},"direction":2}]"#
                let none = #","where":{"fieldFilter":{"op":"EQUAL","field":{"fieldPath":"n"},"value":{"integerValue":7}}}"#
                let second = #"{"values":[{"integerValue":1}],"before":true}"#
                for (clauses, found) in [
                    ("", Self.names("c/0", "c/1", "c/2")),
                    (#","limit":"1""#, Self.names("c/0")),
                    (order + #","startAt":{"values":[{"integerValue":1}]}"#, Self.names("c/0")),
                    (order + #","startAt":\#(second)"#, Self.names("c/1", "c/0")),
                    (order + #","end_at":\#(second)"#, Self.names("c/2")),
                    (
                        #","where":{"unaryFilter":{"op":5,"field":{"fieldPath":"n"}}},"offset":2"#,
                        #"{"document":{"name":"\#(firestoreName("c/2"))"},"skippedResults":2}"#
                    ),
                    (none, "{}"),
                ] {
                    let query = #"{"from":[{"collectionId":"c"}],"select":{"fields":[{"fieldPath":"__name__"}]}\#(clauses)}"#
                    let response = try await connection.firestoreWithoutTimes(
                        "POST",
                        ":runQuery",
                        #"{"structuredQuery":\#(query)}"#
                    )
                    #expect(response == "[\(found)\n]", "\(clauses)")
                }
            }
        }
    }

    @Test
    func `The name range that official clients send for a recursive read is supported`() async throws {
        try await withServer { server in
            for path in ["a/x", "c/x", "c/x/sub/y", "c/__id5__", "cc/x", "d/x"] { try await server.set(path, [:]) }
            try await withConnection(to: server) { connection in
                func bound(_ collection: String, _ before: Bool) -> String {
                    #"{"values":[{"referenceValue":"\#(firestoreName(collection))/__id-9223372036854775808__"}],"before":\#(before)}"#
                }
                let body = """
                    {"structuredQuery":{"from":[{"allDescendants":true}],"orderBy":[{"field":{"fieldPath":"__name__"}}],\
                    "startAt":\(bound("c", true)),"endAt":\(bound("c\\u0000", false))}}
                    """
                let found = try await connection.firestoreWithoutTimes("POST", ":runQuery", body)
                #expect(found == "[\(Self.names("c/__id5__", "c/x", "c/x/sub/y"))\n]")
            }
        }
    }

    @Test
    func `A long result is streamed as one array`() async throws {
        let text = String(repeating: "e\"", count: 5_000)
        try await withServer { server in
            for number in 0..<30 { try await server.set("c/\(number)", ["text": .string(text)]) }
            try await withConnection(to: server) { connection in
                let body = #"{"structuredQuery":{"from":[{"collectionId":"c"}]}}"#
                let response = try await connection.firestore("POST", ":runQuery", body)
                #expect(response["transfer-encoding"] == "chunked")
                let elements = try #require(try JSONText(response.body).root.elements)
                let texts = elements.map { $0["document"]?["fields"]?["text"]?["stringValue"]?.string }
                #expect(texts.count == 30)
                #expect(texts.allSatisfy { $0 == text })
                let list = try await connection.firestore("GET", "/c")
                #expect(list["content-length"] == "\(list.body.utf8.count)")
                #expect(try JSONText(list.body).root["documents"]?.count == 30)
            }
            // All memory has been released.
            try await server.wait { server.responseBudget.reservedBytes == 0 }
        }
    }

    @Test
    func `Lists, including recursive ones, are paginated in every order`() async throws {
        try await withServer { server in
            for (path, number) in [("c/a", 3), ("c/b", 1), ("c/b/s/x", 0), ("c/d", 2), ("c/none/s/y", 0), ("e/f", 5)] {
                try await server.set(path, ["n": .integer(Int64(number))])
            }
            try await withConnection(to: server) { connection in
                for (path, query, expected) in [
                    ("/c", "", ["c/a", "c/b", "c/d"]),
                    ("/c", "showMissing=true", ["c/a", "c/b", "c/d", "c/none"]),
                    ("/c", "orderBy=n%20desc,%20__name__&mask.fieldPaths=x", ["c/a", "c/d", "c/b"]),
                    ("/c", "orderBy=__name__%20DESC", ["c/d", "c/b", "c/a"]),
                    ("/c", "recursive=true", ["c/a", "c/b", "c/b/s/x", "c/d", "c/none/s/y"]),
                    ("", "", ["c/a", "c/b", "c/d", "e/f"]),
                    ("/c/b/", "", ["c/b/s/x"]),
                ] {
                    var names: [String] = []
                    var token = ""
                    repeat {
                        let page = try await connection.firestore("GET", "\(path)?pageSize=2&\(query)&pageToken=\(token)")
                        let documents = try JSONText(page.body).root["documents"]?.elements.map { Array($0) } ?? []
                        #expect(documents.count <= 2)
                        names += documents.compactMap { $0["name"]?.string?.replacing(firestoreName(""), with: "") }
                        token = page.text("nextPageToken") ?? ""
                    } while !token.isEmpty
                    #expect(names == expected, "\(path) \(query)")
                }
                let ids = try await connection.firestoreWithoutTimes("POST", ":listCollectionIds", #"{"pageSize":1}"#)
                #expect(ids.utf8.starts(with: #"{"collectionIds":["c"],"nextPageToken":""#.utf8))
            }
        }
    }

    @Test
    func `Aggregations respect the limit, and the average of no documents is null`() async throws {
        try await withServer { server in
            for number in 0..<5 { try await server.set("c/\(number)", ["n": .integer(Int64(10 - number))]) }
            try await withConnection(to: server) { connection in
                let body = """
                    {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"c"}],"limit":2},"aggregations":[\
                    {"alias":"sum","sum":{"field":{"fieldPath":"n"}}},{"count":{}},{"count":{"upTo":"1"}}]}}
                    """
                // The summed field becomes part of the order, before the name.
                let numbers = try await connection.firestoreWithoutTimes("POST", ":runAggregationQuery", body)
                #expect(
                    numbers == """
                        [{"result":{"aggregateFields":{"field_1":{"integerValue":"2"},"field_2":{"integerValue":"1"},\
                        "sum":{"integerValue":"13"}}}}
                        ]
                        """
                )
                let none = """
                    {"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"none"}]},\
                    "aggregations":[{"avg":{"field":{"fieldPath":"n"}}}]}}
                    """
                let mean = try await connection.firestoreWithoutTimes("POST", ":runAggregationQuery", none)
                #expect(mean.contains(#""field_1":{"nullValue":null}"#))
            }
        }
    }

    @Test
    func `A collection group is split into partitions of about the same size`() async throws {
        try await withServer { server in
            let writes = (0..<520).map { number in
                #"{"update":{"name":"\#(firestoreName("a/\(number % 7)/g/\(1_000 + number)"))"}}"#
            }
            try await withConnection(to: server) { connection in
                _ = try await connection.firestore("POST", ":commit", #"{"writes":[\#(writes.joined(separator: ","))]}"#)
                func body(_ query: String, _ count: String) -> String {
                    #"{"structuredQuery":{"from":[{"collectionId":"g"\#(query)}]},"partitionCount":\#(count)}"#
                }
                let response = try await connection.firestore(
                    "POST",
                    ":partitionQuery",
                    body(#","allDescendants":true"#, "\"9\"")
                )
                let partitions = try #require(try JSONText(response.body).root["partitions"]?.elements)
                let names = partitions.compactMap { partition -> String? in
                    var values = partition["values"]?.elements
                    return values?.next()?["referenceValue"]?.string
                }
                #expect(names.count == 4)
                #expect(names == names.sorted())
                for rejected in [body(#","allDescendants":true"#, "0"), body("", "2")] {
                    let response = try await connection.firestore("POST", ":partitionQuery", rejected)
                    #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                }
            }
        }
    }

    @Test
    func `A transaction that begins with a read is isolated and aborts on conflict`() async throws {
        try await withServer { server in
            try await server.set("c/a", ["n": .integer(1)])
            try await withConnection(to: server) { connection in
                let begin =
                    #"{"structuredQuery":{"from":[{"collectionId":"c"}]},"newTransaction":{"readWrite":{"concurrencyMode":"OPTIMISTIC"}}}"#
                let first = try JSONText(try await connection.firestore("POST", ":runQuery", begin).body).root
                var messages = try #require(first.elements)
                let transaction = try #require(messages.next()?["transaction"]?.string)
                #expect(messages.next()?["document"]?["name"]?.string == firestoreName("c/a"))
                try await server.set("c/a", ["n": .integer(2)])
                let encoded = transaction.replacing("=", with: "%3D")
                let seen = try await connection.firestoreWithoutTimes("GET", "/c/a?transaction=\(encoded)")
                #expect(seen.contains(#""integerValue":"1""#))
                let commit = #"{"writes":[{"delete":"\#(firestoreName("c/a"))"}],"transaction":"\#(transaction)"}"#
                let rejected = try await connection.firestore("POST", ":commit", commit)
                #expect(rejected.status == 409)
                #expect(rejected.firestoreStatus == "ABORTED")
                #expect(try await connection.firestore("GET", "/c/a").status == 200)
                // A transaction whose first read fails is rolled back.
                let open = server.context.transactions.count
                _ = try await connection.firestore(
                    "POST",
                    ":batchGet",
                    #"{"documents":["\#(firestoreName("c/a"))"],"newTransaction":{"readOnly":{"readTime":"2999-01-01T00:00:00Z"}}}"#
                )
                #expect(server.context.transactions.count == open)
            }
        }
    }
}
