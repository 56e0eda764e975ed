import DocumentModel
import FirestoreProto
import Foundation
import ServerTestSupport
import StrictJSON
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("Queries over gRPC", .timeLimit(.minutes(10)))
struct QueryMethodTests {
    private static func setBooks(on server: InProcessServer) async throws {
        for (id, pages) in [("a", 100), ("b", 200), ("c", 300), ("d", 400)] as [(String, Int64)] {
            try await server.set(
                "books/\(id)",
                ["pages": .integer(pages), "tags": .array([.string(id), .string("x")]), "v": .vector([Double(pages), 0])]
            )
        }
        try await server.set("shelves/s/books/e", ["pages": .integer(500)])
    }

    private static let queries: [(ProtoRunQueryRequest, [String])] = [
        (.run(.query("books")), ["a", "b", "c", "d"]),
        (.run(.query("books"), below: "shelves/s"), ["e"]),
        (.run(.query("books") { $0.from[0].allDescendants = true }), ["a", "b", "c", "d", "e"]),
        (.run(.query("books") { $0.where = .field("pages", .greaterThan, 200) }), ["c", "d"]),
        (.run(.query("books") { $0.where = .field("pages", .in, .array(100, .double(400))) }), ["a", "d"]),
        (.run(.query("books") { $0.where = .field("tags", .arrayContainsAny, .array("b", "d")) }), ["b", "d"]),
        (.run(.query("books") { $0.where = .field("__name__", .equal, .reference("books/c")) }), ["c"]),
        (
            .run(
                .query("books") {
                    $0.where.compositeFilter.op = .or
                    $0.where.compositeFilter.filters = [
                        .field("pages", .equal, 100),
                        .make {
                            $0.unaryFilter = .make {
                                $0.op = .isNull
                                $0.field = "v"
                            }
                        },
                        .field("tags", .arrayContains, "c"),
                    ]
                }
            ),
            ["a", "c"]
        ),
        (
            .run(
                .query("books") {
                    $0.orderBy = [
                        .make {
                            $0.field = "pages"
                            $0.direction = .descending
                        }
                    ]
                    $0.startAt = .make { $0.values = [400] }
                    $0.endAt = .make {
                        $0.values = [100]
                        $0.before = true
                    }
                    $0.limit = 1
                    $0.offset = 1
                }
            ),
            ["b"]
        ),
        (
            .run(
                .query("books") {
                    $0.findNearest.vectorField = "v"
                    $0.findNearest.queryVector = .vector(290, 0)
                    $0.findNearest.distanceMeasure = .euclidean
                    $0.findNearest.limit = 2
                    $0.findNearest.distanceThreshold = .init(95)
                }
            ),
            ["c", "b"]
        ),
        // The range that official clients use for all descendants of a collection.
        (
            .run(
                .make {
                    $0.from = [.make { $0.allDescendants = true }]
                    $0.orderBy = [.make { $0.field = "__name__" }]
                    $0.startAt = .make {
                        $0.values = [.reference("books/__id-9223372036854775808__")]
                        $0.before = true
                    }
                    $0.endAt = .make {
                        $0.values = [.reference("books\0/__id-9223372036854775808__")]
                        $0.before = true
                    }
                }
            ),
            ["a", "b", "c", "d"]
        ),
    ]

    @Test
    func `A query has one message for each document`() async throws {
        try await withServer { server in
            try await Self.setBooks(on: server)
            try await withHTTP2Connection(to: server) { connection in
                for (request, ids) in Self.queries {
                    let messages = try await connection.firestore("RunQuery", request, returning: ProtoRunQueryResponse.self)
                    #expect(messages.map { String($0.document.name.suffix(1)) } == ids)
                    #expect(messages.allSatisfy { $0.hasReadTime })
                    #expect(messages.first?.skippedResults == request.structuredQuery.offset)
                }
            }
        }
    }

    @Test
    func `An empty result is one message with only the read time`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let messages = try await connection.firestore(
                    "RunQuery",
                    ProtoRunQueryRequest.run(.query("none")),
                    returning: ProtoRunQueryResponse.self
                )
                #expect(messages.map(\.hasDocument) == [false])
                #expect(messages.first?.hasReadTime == true)
            }
        }
    }

    @Test
    func `A projection returns only its fields`() async throws {
        try await withServer { server in
            try await Self.setBooks(on: server)
            try await withHTTP2Connection(to: server) { connection in
                for (fields, expected) in [(["pages"], ["pages"]), (["__name__"], [])] {
                    let request = ProtoRunQueryRequest.run(
                        .query("books") { $0.select.fields = fields.map { .init(stringLiteral: $0) } }
                    )
                    let messages = try await connection.firestore("RunQuery", request, returning: ProtoRunQueryResponse.self)
                    #expect(messages.first?.document.fields.map(\.key) == expected)
                }
            }
        }
    }

    @Test
    func `A result of many documents arrives completely`() async throws {
        try await withServer { server in
            let text = String(repeating: "é", count: 500)
            for id in 100..<400 { try await server.set("many/\(id)", ["text": .string(text)]) }
            try await withHTTP2Connection(to: server) { connection in
                let messages = try await connection.firestore(
                    "RunQuery",
                    ProtoRunQueryRequest.run(.query("many")),
                    returning: ProtoRunQueryResponse.self
                )
                #expect(messages.map(\.document.name) == (100..<400).map { resourceName("many/\($0)") })
                #expect(messages.allSatisfy { $0.document["text"] == ProtoValue(stringLiteral: text) })
            }
        }
    }

    @Test
    func `A query is explained, with its results if they are requested`() async throws {
        try await withServer { server in
            try await Self.setBooks(on: server)
            try await withHTTP2Connection(to: server) { connection in
                var request = ProtoRunQueryRequest.run(.query("books"))
                request.explainOptions = .init()
                let plan = try await connection.firestore("RunQuery", request, returning: ProtoRunQueryResponse.self)
                #expect(plan.count == 1)
                #expect(plan.first?.explainMetrics.planSummary.indexesUsed.isEmpty == false)
                #expect(plan.first?.explainMetrics.hasExecutionStats == false)
                request.explainOptions.analyze = true
                let analysis = try await connection.firestore("RunQuery", request, returning: ProtoRunQueryResponse.self)
                #expect(analysis.map(\.hasDocument) == [true, true, true, true, false])
                #expect(analysis.map(\.hasExplainMetrics) == [false, false, false, false, true])
                #expect(analysis.last?.explainMetrics.executionStats.resultsReturned == 4)
                #expect(analysis.last?.explainMetrics.executionStats.executionDuration.nanos ?? 0 > 0)
            }
        }
    }

    @Test
    func `Documents are counted, summed and averaged`() async throws {
        try await withServer { server in
            try await Self.setBooks(on: server)
            try await withHTTP2Connection(to: server) { connection in
                let request = ProtoRunAggregationQueryRequest.make {
                    $0.parent = resourceName("")
                    $0.structuredAggregationQuery.structuredQuery = .query("books")
                    $0.structuredAggregationQuery.aggregations = [
                        .make { $0.count = .init() },
                        .make {
                            $0.alias = "some"
                            $0.count.upTo = 3
                        },
                        .make { $0.sum.field = "pages" },
                        .make {
                            $0.alias = "`mean`"
                            $0.avg.field = "pages"
                        },
                    ]
                    $0.newTransaction = .init()
                }
                let responses = try await connection.firestore(
                    "RunAggregationQuery",
                    request,
                    returning: ProtoRunAggregationQueryResponse.self
                )
                #expect(responses.count == 1)
                #expect(responses.first?.transaction.isEmpty == false)
                #expect(responses.first?.hasReadTime == true)
                let results = responses.first?.result.aggregateFields.sorted { $0.key < $1.key }
                #expect(results == entries(["`mean`": .double(250), "field_1": 4, "field_2": 1000, "some": 3]))
            }
        }
    }

    @Test
    func `A large collection group is partitioned`() async throws {
        try await withServer { server in
            for id in 100..<500 { try await server.set("many/\(id)", [:]) }
            try await withHTTP2Connection(to: server) { connection in
                let request = ProtoPartitionQueryRequest.make {
                    $0.parent = resourceName("")
                    $0.structuredQuery = .query("many") { $0.from[0].allDescendants = true }
                    $0.partitionCount = 2
                }
                let responses = try await connection.firestore(
                    "PartitionQuery",
                    request,
                    returning: ProtoPartitionQueryResponse.self
                )
                #expect(responses.first?.partitions.count == 2)
                #expect(responses.first?.partitions.allSatisfy { $0.before && $0.values.count == 1 } == true)
            }
        }
    }

    /// Requests with an error, in both encodings.
    private static let invalidRequests: [(method: String, json: String, proto: any Message)] = [
        (
            "runQuery", #"{"structuredQuery":{"from":[{"collectionId":"c"}],"limit":-1}}"#,
            ProtoRunQueryRequest.run(.query("c") { $0.limit = -1 })
        ),
        ("runQuery", #"{"structuredQuery":{}}"#, ProtoRunQueryRequest.run(.init())),
        ("runQuery", "{}", ProtoRunQueryRequest.make { $0.parent = resourceName("") }),
        (
            "runQuery", #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{}}}"#,
            ProtoRunQueryRequest.run(.query("c") { $0.where = .init() })
        ),
        (
            "runQuery",
            #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"compositeFilter":{"op":"AND","filters":[{"fieldFilter":{"field":{"fieldPath":"a"},"op":"IN","value":{"integerValue":1}}}]}}}}"#,
            ProtoRunQueryRequest.run(
                .query("c") {
                    $0.where.compositeFilter.op = .and
                    $0.where.compositeFilter.filters = [.field("a", .in, 1)]
                }
            )
        ),
        (
            "runQuery",
            #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":{"fieldPath":"a"},"value":{"integerValue":1}}}}}"#,
            ProtoRunQueryRequest.run(.query("c") { $0.where = .field("a", .unspecified, 1) })
        ),
        (
            "runQuery", #"{"structuredQuery":{"from":[{"collectionId":"c"}],"orderBy":[{"field":{"fieldPath":"a..b"}}]}}"#,
            ProtoRunQueryRequest.run(.query("c") { $0.orderBy = [.make { $0.field = "a..b" }] })
        ),
        (
            "runQuery", #"{"structuredQuery":{"from":[{"collectionId":"c"}],"startAt":{"values":[{"integerValue":1}]}}}"#,
            ProtoRunQueryRequest.run(.query("c") { $0.startAt = .make { $0.values = [1] } })
        ),
        (
            "runQuery",
            #"{"structuredQuery":{"from":[{"collectionId":"c"}],"findNearest":{"vectorField":{"fieldPath":"v"},"queryVector":{"integerValue":1}}}}"#,
            ProtoRunQueryRequest.run(
                .query("c") {
                    $0.findNearest.vectorField = "v"
                    $0.findNearest.queryVector = 1
                }
            )
        ),
        (
            "runAggregationQuery",
            #"{"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"c"}]},"aggregations":[{"avg":{"field":{"fieldPath":"__x__"}}}]}}"#,
            ProtoRunAggregationQueryRequest.make {
                $0.parent = resourceName("")
                $0.structuredAggregationQuery.structuredQuery = .query("c")
                $0.structuredAggregationQuery.aggregations = [.make { $0.avg.field = "__x__" }]
            }
        ),
        ("commit", #"{"writes":[{}]}"#, ProtoCommitRequest.commit(.init())),
        (
            "commit", #"{"writes":[{"update":{"fields":{}}}]}"#,
            ProtoCommitRequest.commit(.make { $0.update = .init() })
        ),
        (
            "commit", #"{"writes":[{"delete":"\#(resourceName("c/d"))"},{"delete":"x"}]}"#,
            ProtoCommitRequest.commit(.make { $0.delete = resourceName("c/d") }, .make { $0.delete = "x" })
        ),
        (
            "commit",
            #"{"writes":[{"update":{"name":"\#(resourceName("c/d"))","fields":{"a":{"arrayValue":{"values":[{"arrayValue":{}}]}}}}}]}"#,
            ProtoCommitRequest.commit(.set("c/d", ["a": .array(.array())]))
        ),
        (
            "commit",
            #"{"writes":[{"update":{"name":"\#(resourceName("c/d"))"},"updateTransforms":[{"fieldPath":"a","increment":{"stringValue":"x"}}]}]}"#,
            ProtoCommitRequest.commit(
                .make {
                    $0.update = .document("c/d")
                    $0.updateTransforms = [
                        .make {
                            $0.fieldPath = "a"
                            $0.increment = "x"
                        }
                    ]
                }
            )
        ),
        (
            "commit", #"{"writes":[{"update":{"name":"\#(resourceName("c/d"))"},"updateTransforms":[{"fieldPath":"a"}]}]}"#,
            ProtoCommitRequest.commit(
                .make {
                    $0.update = .document("c/d")
                    $0.updateTransforms = [.make { $0.fieldPath = "a" }]
                }
            )
        ),
        (
            "partitionQuery", #"{"structuredQuery":{"from":[{"collectionId":"c"}]},"partitionCount":"2"}"#,
            ProtoPartitionQueryRequest.make {
                $0.parent = resourceName("")
                $0.structuredQuery = .query("c")
                $0.partitionCount = 2
            }
        ),
        (
            "batchGet", #"{"documents":["\#(resourceName("c"))"]}"#,
            ProtoBatchGetDocumentsRequest.make {
                $0.database = databaseName
                $0.documents = [resourceName("c")]
            }
        ),
    ]

    @Test
    func `Errors have the same codes and texts as over REST`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                for (verb, json, proto) in Self.invalidRequests {
                    let name = verb == "batchGet" ? "batchGetDocuments" : verb
                    let method = name.prefix(1).uppercased() + name.dropFirst()
                    let response = try await connection.firestore(method, proto)
                    let rest = try await connection.request(
                        "POST",
                        "/v1/\(resourceName("")):\(verb)",
                        [("content-type", "application/json")],
                        body: json
                    )
                    // In an array for a streaming method.
                    let text = rest.text.utf8.first == UInt8(ascii: "[") ? String(rest.text.dropFirst().dropLast()) : rest.text
                    let error = try #require(try JSONText(text).root["error"])
                    #expect(response.code?.name == error["status"]?.string)
                    #expect(response.message.removingPercentEncoding == error["message"]?.string)
                }
            }
        }
    }
}
