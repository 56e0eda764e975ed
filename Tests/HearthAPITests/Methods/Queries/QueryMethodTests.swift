import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Query methods") struct QueryMethodTests {
    private static let books = #"""
        {"writes": [
            {"set": {"path": "books/a", "fields": {"title": "A", "pages": 100, "v": {"$vector": [1, 0]}}}},
            {"set": {"path": "books/b", "fields": {"title": "B", "pages": 300, "v": {"$vector": [0, 3]}}}},
            {"set": {"path": "books/c", "fields": {"title": "C", "pages": 200.5}}},
            {"set": {"path": "books/a/reviews/r", "fields": {"stars": 5}}},
            {"set": {"path": "films/a/reviews/r", "fields": {"stars": 4}}}
        ]}
        """#

    private func withBooks(limits: ServiceLimits = ServiceLimits(), _ body: (TemporaryService) async throws -> Void) async throws
    {
        try await withService(limits: limits) { service in
            try await service.result(of: "documents.commit", Self.books)
            try await body(service)
        }
    }

    /// Returns the paths of the results, each with its fields.
    private func run(_ query: String, _ service: TemporaryService) async throws -> [String] {
        let documents = try await service.member("documents", of: "query.run", query)
        return try JSONText(try #require(documents)).root.elements?.map { document in
            let fields = document["fields"].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? ""
            return (document["path"]?.string ?? "") + fields
        } ?? []
    }

    @Test
    func `query.run returns documents in order with the selected fields`() async throws {
        try await withBooks { service in
            let all = #""collection": "books", "orderBy": [{"field": "pages", "direction": "desc"}]"#
            #expect(
                try await run("{\(all), \"select\": [\"pages\"]}", service)
                    == [#"books/b{"pages":300}"#, #"books/c{"pages":200.5}"#, #"books/a{"pages":100}"#]
            )
            #expect(
                try await run("{\(all), \"select\": [\"title\"], \"startAfter\": {\"values\": [300]}, \"limit\": 1}", service)
                    == [#"books/c{"title":"C"}"#]
            )
            #expect(
                try await run(#"{"collectionGroup": "reviews", "orderBy": [{"field": "stars"}]}"#, service)
                    == [#"films/a/reviews/r{"stars":4}"#, #"books/a/reviews/r{"stars":5}"#]
            )
            #expect(
                try await run(#"{"collectionGroup": "reviews", "parent": "books/a"}"#, service) == [
                    #"books/a/reviews/r{"stars":5}"#
                ]
            )
            #expect(
                try await run(#"{"allDescendants": true, "parent": "films/a"}"#, service) == [#"films/a/reviews/r{"stars":4}"#]
            )
            let nearest = #"""
                {"collection": "books", "select": ["d"], "findNearest": {"field": "v", "vector": {"$vector": [0, 1]},
                 "measure": "euclidean", "limit": 5, "distanceResultField": "d"}}
                """#
            let near = try await run(nearest, service)
            #expect(near.first?.utf8.starts(with: #"books/a{"d":1.414"#.utf8) == true)
            #expect(near.last == #"books/b{"d":2.0}"#)
        }
    }

    @Test
    func `query.run accepts a readTime and positional parameters, and returns documents like documents.get`() async throws {
        try await withBooks { service in
            let result = try await service.result(of: "query.run", #"{"collection": "books", "limit": 1}"#)
            let root = try JSONText(result).root
            let time = try #require(root["readTime"]?.string)
            let document = try #require(root["documents"]?.elements?.first { _ in true })
            let members = String(decoding: document.rawBytes, as: UTF8.self).utf8.dropLast()
            #expect(
                try await service.result(of: "documents.get", #"{"path": "books/a"}"#)
                    .hasPrefix(String(Substring(members)) + #","readTime":"\#(time)","epoch":"#)
            )
            try await service.result(of: "documents.delete", #"{"path": "books/a"}"#)
            #expect(try await service.result(of: "query.run", #"{"collection": "books", "limit": 1}"#) != result)
            #expect(
                try await service.result(of: "query.run", "{\"collection\": \"books\", \"limit\": 1, \"readTime\": \"\(time)\"}")
                    == result
            )
            #expect(try await run(#"[null, "books"]"#, service).count == 2)
        }
    }

    @Test
    func `query.aggregate returns results by alias`() async throws {
        try await withBooks { service in
            let numbers = try await service.member(
                "result",
                of: "query.aggregate",
                #"""
                {"aggregations": [{"count": {}}, {"sum": "pages", "alias": "sum"}, {"average": "none"}, {"count": {"upTo": 2}}],
                 "collection": "books"}
                """#
            )
            // An aggregated field that no document has matches no documents.
            #expect(numbers == #"{"field_1":0,"field_2":null,"field_3":0,"sum":0}"#)
            let some = try await service.member(
                "result",
                of: "query.aggregate",
                #"{"aggregations": [{"count": {}}, {"sum": "pages", "alias": "sum"}], "collection": "books"}"#
            )
            #expect(some == #"{"field_1":3,"sum":600.5}"#)
        }
    }

    @Test
    func `query.explain returns the plan of a query or aggregation`() async throws {
        try await withBooks { service in
            for (query, steps) in [
                (#"{"collection": "books", "where": {"field": "pages", "op": ">", "value": 1}}"#, 2),
                (#"{"collection": "books", "aggregations": [{"count": {}}]}"#, 1),
            ] {
                let explanation = try JSONText(try await service.result(of: "query.explain", query)).root
                #expect(explanation["plan"]?.count == steps)
                for name in ["entriesScanned", "documentsRead", "results", "milliseconds"] as [UTF8Key] {
                    #expect(explanation[name]?.kind == .number)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("query.run", #"{"collection": "books", "limit": -1}"#, 3, "params.limit"),
            ("query.run", #"{"collection": "books", "where": {"and": []}}"#, 3, "params.where.and"),
            ("query.run", #"{"collection": "books", "where": {"field": "a", "op": "in", "value": []}}"#, 3, "params.where.value"),
            ("query.run", #"{"collection": "books", "orderBy": [{"field": "a"}, {"field": "a"}]}"#, 3, "params.orderBy[1]"),
            ("query.run", #"{"collection": "books", "readTime": "2999-01-01T00:00:00Z"}"#, 3, ""),
            ("query.aggregate", #"{"collection": "books", "aggregations": []}"#, 3, "params.aggregations"),
            (
                "query.aggregate",
                #"""
                {"collection": "books", "aggregations": [{"count": {}}], "findNearest": {"field": "v",
                 "vector": {"$vector": [1]}, "measure": "cosine", "limit": 1}}
                """#, 3, "params.findNearest"
            ),
        ]
    )
    func `Errors have a code and a location`(method: String, params: String, code: Int, location: String) async throws {
        try await withBooks { service in
            let error = try #require(try await service.response(to: method, params)["error"])
            #expect(error["code"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == "\(code)")
            #expect(error["data"]?["parameter"]?.string ?? "" == location)
        }
    }

    @Test
    func `A response that is too large is rejected with advice`() async throws {
        try await withBooks(limits: ServiceLimits(maximumBodyBytes: 400)) { service in
            let error = try #require(try await service.response(to: "query.run", #"{"collection": "books"}"#)["error"])
            #expect(error["data"]?["status"]?.string == "RESOURCE_EXHAUSTED")
            #expect(error["message"]?.string?.contains("and a cursor") == true)
        }
    }

    @Test(
        arguments: [
            (#""collection": "books""#, "books/new", "films/new"),
            (#""collectionGroup": "reviews""#, "new/x/reviews/r", "books/new"),
            (#""allDescendants": true"#, "elsewhere/new", ""),
        ]
    )
    func `A transaction is aborted only by changes that its query could match`(
        source: String,
        conflicting: String,
        other: String
    ) async throws {
        try await withBooks { service in
            for (path, isAborted) in [(other, false), (conflicting, true)] where !path.isEmpty {
                let begun = try await service.member("transaction", of: "transactions.begin", "{}")
                let transaction = try #require(begun)
                try await service.result(of: "query.run", "{\(source), \"transaction\": \(transaction)}")
                try await service.result(
                    of: "documents.set",
                    "{\"path\": \"\(path)\", \"fields\": {\"n\": \(isAborted ? 1 : 2)}}"
                )
                let commit = "{\"writes\": [{\"set\": {\"path\": \"t/t\", \"fields\": {}}}], \"transaction\": \(transaction)}"
                if isAborted {
                    let error = try #require(try await service.response(to: "documents.commit", commit)["error"])
                    #expect(error["data"]?["status"]?.string == "ABORTED")
                } else {
                    try await service.result(of: "documents.commit", commit)
                }
            }
        }
    }
}
