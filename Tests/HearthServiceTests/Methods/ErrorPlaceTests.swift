import HearthService
import StrictJSON
import Testing

/// An error about a value says where it is: the document, the field, and the parameter of the call.
@Suite struct ErrorPlaceTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        /// The members of a write beside its path.
        let members: String
        /// Where the fault is below the write.
        let place: String
        let field: String
        var verbs = ["set", "update"]

        var testDescription: String { members }
    }

    private static let faults = [
        Fault(
            members: #""fields": {"a": {"b": [1, {"c": [[2]]}]}}"#,
            place: "fields",
            field: "a.b[1].c[0]",
            verbs: ["set", "create"]
        ),
        Fault(
            members: #""fields": {"a.b": [1, {"c": [[2]]}]}"#,
            place: #"fields["a.b"]"#,
            field: "a.b[1].c[0]",
            verbs: ["update"]
        ),
        Fault(members: #""fields": {"a": {"é": {"$time": 1}}}"#, place: "fields", field: "a.`é`", verbs: ["set", "create"]),
        Fault(members: #""fields": {"a.b": {"c": {"$time": 1}}}"#, place: #"fields["a.b"]"#, field: "a.b.c", verbs: ["update"]),
        Fault(members: #""fields": {"a": [{"__x__": 1}]}"#, place: "fields", field: "a[0].__x__", verbs: ["set", "create"]),
        Fault(members: #""fields": {"a.__x__.b": 1}"#, place: #"fields["a.__x__.b"]"#, field: "a.__x__.b", verbs: ["update"]),
        Fault(
            members: #""fields": {"a": {"$geoPoint": {"latitude": 1}}}"#,
            place: "fields",
            field: "a",
            verbs: ["set", "create"]
        ),
        Fault(members: #""fields": {"n": 9223372036854775808}"#, place: "fields.n", field: "n", verbs: ["update"]),
        Fault(
            members: #""fields": {}, "merge": true, "delete": ["ok", "a.__b__"]"#,
            place: "delete[1]",
            field: "a.__b__",
            verbs: ["set"]
        ),
        Fault(members: #""fields": {}, "mergeFields": ["ok", "a..b"]"#, place: "mergeFields[1]", field: "a..b", verbs: ["set"]),
        Fault(members: #""delete": ["ok", "__b__"]"#, place: "delete[1]", field: "__b__", verbs: ["update"]),
        Fault(
            members: #""fields": {}, "transforms": [{"field": "t", "serverTimestamp": true}, {"field": "n", "increment": "1"}]"#,
            place: "transforms[1].increment",
            field: "n"
        ),
        Fault(
            members: #""fields": {}, "transforms": [{"field": "n.m", "maximum": {"$double": "Nan"}}]"#,
            place: "transforms[0].maximum",
            field: "n.m"
        ),
        Fault(
            members: #""fields": {}, "transforms": [{"field": "l", "arrayUnion": [1, {"a": [[]]}]}]"#,
            place: "transforms[0].arrayUnion[1]",
            field: "l.a[0]"
        ),
        Fault(
            members: #""fields": {}, "transforms": [{"field": "l", "arrayRemove": [[]]}]"#,
            place: "transforms[0].arrayRemove[0]",
            field: "l"
        ),
        Fault(
            members: #""fields": {}, "transforms": [{"field": "__l__", "arrayRemove": [1]}]"#,
            place: "transforms[0].field",
            field: "__l__"
        ),
    ]

    @Test("In a call of its own", arguments: faults)
    func single(_ fault: Fault) async throws {
        try await withService { service in
            for verb in fault.verbs {
                let document = verb == "create" ? #""collection": "a", "id": "b""# : #""path": "a/b""#
                let error = try #require(
                    try await service.response(to: "documents.\(verb)", "{\(document), \(fault.members)}")["error"]
                )
                check(error, document: "a/b", parameter: "params.\(fault.place)", field: fault.field)
            }
        }
    }

    @Test("Among the writes of a commit and of a batch, none of which is done then", arguments: faults, ["commit", "batchWrite"])
    func among(_ fault: Fault, method: String) async throws {
        try await withService { service in
            for verb in fault.verbs where verb != "create" {
                let writes = [
                    #"{"set": {"path": "a/1", "fields": {}}}"#, #"{"delete": {"path": "a/2"}}"#,
                    #"{"set": {"path": "a/3", "fields": {}}}"#, #"{"\#(verb)": {"path": "a/4", \#(fault.members)}}"#,
                ].joined(separator: ",")
                let error = try #require(
                    try await service.response(to: "documents.\(method)", #"{"writes": [\#(writes)]}"#)["error"]
                )
                check(error, document: "a/4", parameter: "params.writes[3].\(verb).\(fault.place)", field: fault.field)
                #expect(try await service.result(of: "documents.list", #"["a"]"#) == #"{"documents":[]}"#)
            }
        }
    }

    @Test(
        "A commit that the documents do not allow says at which write",
        arguments: [
            (#"{"update": {"path": "a/missing", "fields": {"x": 1}}}"#, 5 as Int64),
            (#"{"delete": {"path": "a/missing", "precondition": {"exists": true}}}"#, 5),
            (#"{"set": {"path": "a/1", "fields": {}, "precondition": {"exists": false}}}"#, 6),
            (#"{"set": {"path": "a/1", "fields": {}, "precondition": {"updateTime": "2001-01-01T00:00:00Z"}}}"#, 9),
        ]
    )
    func state(write: String, code: Int64) async throws {
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
