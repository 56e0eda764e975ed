import HearthAPI
import StrictJSON
import Testing
import UTF8Text

/// Errors name the document, the field and the parameter of the invalid value.
@Suite("Error locations") struct ErrorLocationTests {
    struct InvalidWrite: Sendable, CustomTestStringConvertible {
        /// The members of a write, except its path.
        let members: String
        /// The location of the error within the write.
        let location: String
        let field: String
        var verbs = ["set", "update"]

        var testDescription: String { members }
    }

    private static let invalidWrites = [
        InvalidWrite(
            members: #""fields": {"a": {"b": [1, {"c": [[2]]}]}}"#,
            location: "fields",
            field: "a.b[1].c[0]",
            verbs: ["set", "create"]
        ),
        InvalidWrite(
            members: #""fields": {"a.b": [1, {"c": [[2]]}]}"#,
            location: #"fields["a.b"]"#,
            field: "a.b[1].c[0]",
            verbs: ["update"]
        ),
        InvalidWrite(
            members: #""fields": {"a": {"é": {"$time": 1}}}"#,
            location: "fields",
            field: "a.`é`",
            verbs: ["set", "create"]
        ),
        InvalidWrite(
            members: #""fields": {"a.b": {"c": {"$time": 1}}}"#,
            location: #"fields["a.b"]"#,
            field: "a.b.c",
            verbs: ["update"]
        ),
        InvalidWrite(
            members: #""fields": {"a": [{"__x__": 1}]}"#,
            location: "fields",
            field: "a[0].__x__",
            verbs: ["set", "create"]
        ),
        InvalidWrite(
            members: #""fields": {"a.__x__.b": 1}"#,
            location: #"fields["a.__x__.b"]"#,
            field: "a.__x__.b",
            verbs: ["update"]
        ),
        InvalidWrite(
            members: #""fields": {"a": {"$geoPoint": {"latitude": 1}}}"#,
            location: "fields",
            field: "a",
            verbs: ["set", "create"]
        ),
        InvalidWrite(members: #""fields": {"n": 9223372036854775808}"#, location: "fields.n", field: "n", verbs: ["update"]),
        InvalidWrite(
            members: #""fields": {}, "merge": true, "delete": ["ok", "a.__b__"]"#,
            location: "delete[1]",
            field: "a.__b__",
            verbs: ["set"]
        ),
        InvalidWrite(
            members: #""fields": {}, "mergeFields": ["ok", "a..b"]"#,
            location: "mergeFields[1]",
            field: "a..b",
            verbs: ["set"]
        ),
        InvalidWrite(members: #""delete": ["ok", "__b__"]"#, location: "delete[1]", field: "__b__", verbs: ["update"]),
        InvalidWrite(
            members: #""fields": {}, "transforms": [{"field": "t", "serverTimestamp": true}, {"field": "n", "increment": "1"}]"#,
            location: "transforms[1].increment",
            field: "n"
        ),
        InvalidWrite(
            members: #""fields": {}, "transforms": [{"field": "n.m", "maximum": {"$double": "Nan"}}]"#,
            location: "transforms[0].maximum",
            field: "n.m"
        ),
        InvalidWrite(
            members: #""fields": {}, "transforms": [{"field": "l", "arrayUnion": [1, {"a": [[]]}]}]"#,
            location: "transforms[0].arrayUnion[1]",
            field: "l.a[0]"
        ),
        InvalidWrite(
            members: #""fields": {}, "transforms": [{"field": "l", "arrayRemove": [[]]}]"#,
            location: "transforms[0].arrayRemove[0]",
            field: "l"
        ),
        InvalidWrite(
            members: #""fields": {}, "transforms": [{"field": "__l__", "arrayRemove": [1]}]"#,
            location: "transforms[0].field",
            field: "__l__"
        ),
    ]

    @Test(arguments: invalidWrites)
    func `A single write has the location of its parameter`(_ write: InvalidWrite) async throws {
        try await withService { service in
            for verb in write.verbs {
                let document = verb == "create" ? #""collection": "a", "id": "b""# : #""path": "a/b""#
                let error = try #require(
                    try await service.response(to: "documents.\(verb)", "{\(document), \(write.members)}")["error"]
                )
                check(error, document: "a/b", parameter: "params.\(write.location)", field: write.field)
            }
        }
    }

    @Test(
        arguments: invalidWrites,
        ["commit", "batchWrite"]
    )
    func `A write in a list has the location in the list, and no write is applied`(
        _ write: InvalidWrite,
        method: String
    ) async throws {
        try await withService { service in
            for verb in write.verbs where verb != "create" {
                let writes = [
                    #"{"set": {"path": "a/1", "fields": {}}}"#, #"{"delete": {"path": "a/2"}}"#,
                    #"{"set": {"path": "a/3", "fields": {}}}"#, #"{"\#(verb)": {"path": "a/4", \#(write.members)}}"#,
                ].joined(separator: ",")
                let error = try #require(
                    try await service.response(to: "documents.\(method)", #"{"writes": [\#(writes)]}"#)["error"]
                )
                check(error, document: "a/4", parameter: "params.writes[3].\(verb).\(write.location)", field: write.field)
                #expect(try await service.result(of: "documents.list", #"["a"]"#) == #"{"documents":[]}"#)
            }
        }
    }

    @Test(
        arguments: [
            (#"{"update": {"path": "a/missing", "fields": {"x": 1}}}"#, 5 as Int64),
            (#"{"delete": {"path": "a/missing", "precondition": {"exists": true}}}"#, 5),
            (#"{"set": {"path": "a/1", "fields": {}, "precondition": {"exists": false}}}"#, 6),
            (#"{"set": {"path": "a/1", "fields": {}, "precondition": {"updateTime": "2001-01-01T00:00:00Z"}}}"#, 9),
        ]
    )
    func `A failed precondition names the write`(write: String, code: Int64) async throws {
        try await withService { service in
            let writes = #"[{"set": {"path": "a/1", "fields": {}}}, \#(write)]"#
            let error = try #require(try await service.response(to: "documents.commit", #"{"writes": \#(writes)}"#)["error"])
            #expect(error["code"]?.number == .integer(code))
            #expect(error["data"]?["write"]?.number == .integer(1))
            #expect(error["data"]?["parameter"]?.string == "params.writes[1]")
        }
    }

    private func check(_ error: JSONNode, document: String, parameter: String, field: String) {
        let text = String(decoding: error.rawBytes, as: UTF8.self)
        #expect(error["code"]?.number == .integer(3), "\(text)")
        #expect(error["data"]?["path"]?.string.map { UTF8Key($0) } == UTF8Key(document), "\(text)")
        #expect(error["data"]?["parameter"]?.string.map { UTF8Key($0) } == UTF8Key(parameter), "\(text)")
        #expect(error["data"]?["field"]?.string.map { UTF8Key($0) } == UTF8Key(field), "\(text)")
    }
}
