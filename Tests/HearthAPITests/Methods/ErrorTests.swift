import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@Suite("Errors of calls") struct ErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let params: String
        let code: Int64
        /// The expected members of the error data, as JSON.
        var data: [UTF8Key: String] = [:]

        init(_ method: String, _ params: String, _ code: Int64, _ data: [UTF8Key: String] = [:]) {
            self.method = method
            self.params = params
            self.code = code
            self.data = data
        }

        var testDescription: String { "\(method) \(params)" }
    }

    @Test(arguments: shapes)
    func `Malformed parameters are rejected with their location`(_ call: Case) async throws {
        try await check(call)
    }

    @Test(arguments: rules)
    func `Invalid values are rejected with INVALID_ARGUMENT, the parameter and the field`(_ call: Case) async throws {
        try await check(call)
    }

    @Test(arguments: states)
    func `Failed preconditions have specific codes and the document path`(_ call: Case) async throws {
        try await check(call)
    }

    private func check(_ call: Case) async throws {
        try await withService { service in
            try await service.result(of: "documents.set", #"["a/here", {"x": 1}]"#)
            let error = try #require(try await service.response(to: call.method, call.params)["error"])
            #expect(error["code"]?.number == .integer(call.code), "\(String(decoding: error.rawBytes, as: UTF8.self))")
            for (name, value) in call.data {
                let found = error["data"]?[name].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                #expect(found == value, "\(String(decoding: error.rawBytes, as: UTF8.self))")
            }
            // None of these methods has a list of writes.
            #expect(error["data"]?["write"] == nil)
            #expect(error["message"]?.string?.utf8.isEmpty == false)
        }
    }

    private static let shapes = [
        Case("documents.get", "{}", -32602, ["path": #""params.path""#]),
        Case("documents.get", "[]", -32602, ["path": #""params[0]""#]),
        Case("documents.get", #"{"path": 7}"#, -32602, ["path": #""params.path""#, "got": #""number""#]),
        Case("documents.get", #"{"path": "a/b", "readTime": 1}"#, -32602, ["path": #""params.readTime""#]),
        Case("documents.get", #"{"path": "a/b", "database": 1}"#, -32602, ["path": #""params.database""#]),
        Case("documents.get", #"["a/b", ["x"], 3]"#, -32602, ["path": #""params[2]""#]),
        Case("documents.get", #"{"path": "a/b", "mask": "x"}"#, -32602, ["path": #""params.mask""#]),
        Case("documents.list", #"{"collection": "a", "pageSize": 0}"#, -32602, ["path": #""params.pageSize""#]),
        Case("documents.list", #"{"collection": "a", "pageSize": 1.5}"#, -32602, ["path": #""params.pageSize""#]),
        Case("documents.list", #"{"collection": "a", "pageToken": "?"}"#, -32602, ["path": #""params.pageToken""#]),
        Case("documents.list", #"{"collection": "a", "pageToken": "AmE"}"#, -32602, ["path": #""params.pageToken""#]),
        Case("documents.set", #"{"path": "a/b", "fields": []}"#, -32602, ["path": #""params.fields""#]),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {}, "merge": true, "mergeFields": []}"#,
            -32602,
            ["path": #""params.merge""#]
        ),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {}, "precondition": {}}"#,
            -32602,
            ["path": #""params.precondition.exists""#]
        ),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {}, "transforms": [{"field": "x"}]}"#,
            -32602,
            ["path": #""params.transforms[0].field""#]
        ),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {}, "transforms": [{"field": "x", "increment": 1, "minimum": 2}]}"#,
            -32602,
            ["path": #""params.transforms[0].field""#]
        ),
        Case(
            "documents.commit",
            #"{"writes": [{"set": {"path": "a/b", "fields": {}, "merge": true, "mergeFields": []}}]}"#,
            -32602,
            ["path": #""params.writes[0].set.merge""#]
        ),
        Case("documents.commit", #"{"writes": [{}]}"#, -32602, ["path": #""params.writes[0].set""#]),
        Case("documents.commit", #"{"writes": [{"verify": "a/b"}]}"#, -32602, ["path": #""params.writes[0].verify""#]),
        Case("documents.commit", #"{"writes": [], "transaction": 1}"#, -32602, ["path": #""params.transaction""#]),
        Case("transactions.begin", #"{"readWrite": {}, "readOnly": {}}"#, -32602, ["path": #""params.readOnly""#]),
        Case("transactions.begin", #"{"readWrite": {"readTime": "2024-01-01T00:00:00Z"}}"#, -32602),
        Case("server.info", #"{"all": true}"#, -32602, ["path": #""params.all""#]),
        Case("documents.destroy", "{}", -32601),
    ]

    private static let rules = [
        Case("documents.get", #"{"path": "books"}"#, 3, ["status": #""INVALID_ARGUMENT""#, "parameter": #""params.path""#]),
        Case("documents.get", #"{"path": ""}"#, 3, ["parameter": #""params.path""#]),
        Case("documents.get", #"{"path": "a//b/c"}"#, 3, ["parameter": #""params.path""#]),
        Case("documents.get", #"{"path": "../b"}"#, 3, ["parameter": #""params.path""#]),
        Case("documents.get", #"{"path": "a/__b__"}"#, 3, ["parameter": #""params.path""#]),
        Case("documents.get", #"{"path": "a/b\u0000"}"#, 3, ["parameter": #""params.path""#]),
        // As characters, this contains no slash: a combining mark is attached to it.
        Case("documents.get", #"{"path": "a/..\u002f\u0301x"}"#, 3, ["parameter": #""params.path""#]),
        Case("documents.get", #"{"path": "a/b", "mask": ["x..y"]}"#, 3, ["parameter": #""params.mask[0]""#]),
        Case("documents.list", #"{"collection": "a/b"}"#, 3, ["parameter": #""params.collection""#]),
        Case("documents.create", #"{"collection": "a", "id": "b/c", "fields": {}}"#, 3, ["parameter": #""params.id""#]),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {"tags": [{"color": {"$color": 1}}]}}"#,
            3,
            ["parameter": #""params.fields""#, "field": #""tags[0].color""#]
        ),
        Case("documents.set", #"{"path": "a/b", "fields": {"n": 9223372036854775808}}"#, 3, ["field": #""n""#]),
        Case("documents.set", #"{"path": "a/b", "fields": {"a": [[1]]}}"#, 3, ["path": #""a/b""#, "field": #""a[0]""#]),
        Case("documents.set", #"{"path": "a/b", "fields": {"__x__": 1}}"#, 3, ["field": #""__x__""#]),
        Case(
            "documents.set",
            #"{"path": "a/b", "fields": {"g": {"$geoPoint": {"latitude": 91, "longitude": 0}}}}"#,
            3,
            ["field": #""g""#]
        ),
        Case("documents.update", #"{"path": "a/here", "fields": {"a.b": {"$x": 1}}}"#, 3, ["field": #""a.b""#]),
        Case("documents.update", #"{"path": "a/here", "fields": {"a..b": 1}}"#, 3, ["parameter": #""params.fields[\"a..b\"]""#]),
        Case("documents.update", #"{"path": "a/here"}"#, 3, ["path": #""a/here""#]),
        Case("documents.update", #"{"path": "a/here", "transforms": [{"field": "x", "increment": "1"}]}"#, 3, ["field": #""x""#]),
        Case("documents.set", #"{"path": "a/b", "fields": {}, "precondition": {"updateTime": "yesterday"}}"#, 3),
    ]

    private static let states = [
        Case("documents.get", #"{"path": "a/missing"}"#, 5, ["status": #""NOT_FOUND""#, "path": #""a/missing""#]),
        Case("documents.update", #"{"path": "a/missing", "fields": {"x": 1}}"#, 5, ["path": #""a/missing""#]),
        Case("documents.create", #"{"collection": "a", "id": "here", "fields": {}}"#, 6, ["path": #""a/here""#]),
        Case("documents.delete", #"{"path": "a/missing", "precondition": {"exists": true}}"#, 5, ["path": #""a/missing""#]),
        Case("documents.set", #"{"path": "a/here", "fields": {}, "precondition": {"exists": false}}"#, 6),
        Case(
            "documents.set",
            #"{"path": "a/here", "fields": {}, "precondition": {"updateTime": "2001-01-01T00:00:00Z"}}"#,
            9,
            ["status": #""FAILED_PRECONDITION""#]
        ),
    ]
}
