import DocumentModel
import Testing
import UTF8Text

@Suite("Filter operators")
struct ConditionTests {
    /// A condition on the field `v`, and the ``documents`` that match it.
    struct Case: Sendable, CustomTestStringConvertible {
        let op: String
        let operand: String
        let matches: [String]

        init(_ op: String, _ operand: String, _ matches: [String]) {
            self.op = op
            self.operand = operand
            self.matches = matches
        }

        var testDescription: String { "\(op) \(operand)" }

        func condition() throws -> Condition {
            func one() throws -> Value { try QueryFixtures.value(operand) }
            func list() throws -> [Value] {
                guard case .array(let values) = try one() else { return [] }
                return values
            }
            return switch op {
            case "==": .equal(try one())
            case "!=": .notEqual(try one())
            case "<": .less(try one())
            case "<=": .lessOrEqual(try one())
            case ">": .greater(try one())
            case ">=": .greaterOrEqual(try one())
            case "in": .in(try list())
            case "not-in": .notIn(try list())
            case "array-contains": .arrayContains(try one())
            default: .arrayContainsAny(try list())
            }
        }
    }

    private static let documents = [
        "", "null", "false", "true", #"{"$double": "NaN"}"#, #"{"$double": "-Infinity"}"#, "1", "1.0", "2", "2.5",
        #"{"$double": "Infinity"}"#, #"{"$timestamp": "2020-01-01T00:00:00Z"}"#, #""a""#, #""b""#, #"{"$bytes": "AA=="}"#,
        #"{"$reference": "books/a"}"#, "[]", "[1]", #"[42, "x"]"#, "[41.999]", #"[{"a": [42]}]"#, #"[null, {"$double": "NaN"}]"#,
        #"{"$vector": [1, 2]}"#, #"{"$vector": [3]}"#, "{}", #"{"a": [1]}"#,
    ]
    private static let present = Array(documents.dropFirst())
    private static let nonNull = Array(documents.dropFirst(2))
    private static let nan = #"{"$double": "NaN"}"#

    @Test(
        arguments: [
            Case("==", "1", ["1", "1.0"]),
            Case("==", "1.0", ["1", "1.0"]),
            Case("==", #"{"$double": "Infinity"}"#, [#"{"$double": "Infinity"}"#]),
            Case("==", "null", ["null"]),
            Case("==", nan, [nan]),
            Case("==", "[1.0]", ["[1]"]),
            Case("==", #"{"a": [1.0]}"#, [#"{"a": [1]}"#]),
            Case("==", "[]", ["[]"]),
            Case("!=", "1", nonNull.filter { $0 != "1" && $0 != "1.0" }),
            Case("!=", #""zzz""#, nonNull),
            Case("!=", "null", nonNull),
            Case("!=", nan, nonNull.filter { $0 != nan }),
            Case("<", "2", [#"{"$double": "-Infinity"}"#, "1", "1.0"]),
            Case("<=", "2", [#"{"$double": "-Infinity"}"#, "1", "1.0", "2"]),
            Case(">", "2", ["2.5", #"{"$double": "Infinity"}"#]),
            Case(">=", "2.0", ["2", "2.5", #"{"$double": "Infinity"}"#]),
            Case("<", "true", ["false"]),
            Case(">=", #""a""#, [#""a""#, #""b""#]),
            Case("<", #""b""#, [#""a""#]),
            Case(">", "[]", ["[1]", #"[42, "x"]"#, "[41.999]", #"[{"a": [42]}]"#, #"[null, {"$double": "NaN"}]"#]),
            Case("<", #"{"$vector": [0, 0]}"#, [#"{"$vector": [3]}"#]),
            Case(">", #"{"$vector": [100]}"#, [#"{"$vector": [1, 2]}"#]),
            Case(">=", "{}", ["{}", #"{"a": [1]}"#]),
            Case("in", #"[1, "a", true]"#, ["true", "1", "1.0", #""a""#]),
            Case("in", "[null]", []),
            Case("in", #"[{"$double": "NaN"}, 2]"#, ["2"]),
            Case("not-in", "[1, false]", nonNull.filter { !["1", "1.0", "false"].contains($0) }),
            Case("not-in", #"[{"$double": "NaN"}]"#, nonNull.filter { $0 != nan }),
            Case("not-in", "[1, null]", []),
            Case("array-contains", "42", [#"[42, "x"]"#]),
            Case("array-contains", "42.0", [#"[42, "x"]"#]),
            Case("array-contains", #"{"a": [42]}"#, [#"[{"a": [42]}]"#]),
            Case("array-contains", "null", []),
            Case("array-contains", nan, []),
            Case("array-contains-any", #"[1, "x", "y"]"#, ["[1]", #"[42, "x"]"#]),
            Case("array-contains-any", #"[null, {"$double": "NaN"}, 41.999]"#, ["[41.999]"]),
            Case("array-contains-any", "[null]", []),
        ]
    )
    func `Operators match by type, by value across integers and doubles, and never a missing field`(_ test: Case) throws {
        let query = try NormalizedQuery(QueryFixtures.query(where: .field(try QueryFixtures.field("v"), test.condition())))
        let found = try Self.documents.filter { json in
            let fields = try WriteFixtures.fields(json == "" ? "{}" : #"{"v": \#(json)}"#)
            return query.filter.matches(fields, at: try DocumentPath("books/x"))
        }
        #expect(found == test.matches)
    }

    @Test(
        arguments: ["==", "!=", "<", "<=", ">", ">=", "in", "not-in"],
        [#""*""#, #"{"$bytes": "*"}"#, #"["*"]"#, #"{"m": "*"}"#]
    )
    func `Strings and bytes are compared by their first 1,500 bytes, even in arrays and maps`(op: String, form: String) throws {
        let prefix = String(repeating: "AAAA", count: form.contains("$bytes") ? 500 : 375)
        func value(_ rest: String) throws -> Value {
            try QueryFixtures.value(form.split(separator: "*").joined(separator: prefix + rest))
        }
        let operand = try value("BBBB")
        let condition: Condition =
            switch op {
            case "==": .equal(operand)
            case "!=": .notEqual(operand)
            case "<": .less(operand)
            case "<=": .lessOrEqual(operand)
            case ">": .greater(operand)
            case ">=": .greaterOrEqual(operand)
            case "in": .in([operand])
            default: .notIn([operand])
            }
        let query = try NormalizedQuery(QueryFixtures.query(where: .field(try QueryFixtures.field("v"), condition)))
        let isFound = ["==", "<=", ">=", "in"].contains(op)
        for rest in ["", "AAAA", "CCCC"] {
            #expect(try query.filter.matches(["v": value(rest)], at: DocumentPath("books/x")) == isFound, "\(rest)")
        }
    }

    @Test
    func `Lists of values may contain arrays and maps, which compare as a whole`() throws {
        let condition = Condition.in(try QueryFixtures.values([#"[42, "x"]"#, #"{"a": [1]}"#]))
        let query = try NormalizedQuery(QueryFixtures.query(where: .field(try QueryFixtures.field("v"), condition)))
        let path = try DocumentPath("books/x")
        for (json, isFound) in [(#"[42.0, "x"]"#, true), (#"["x", 42]"#, false), (#"{"a": [1]}"#, true), ("42", false)] {
            #expect(query.filter.matches(try WriteFixtures.fields(#"{"v": \#(json)}"#), at: path) == isFound, "\(json)")
        }
    }

    @Test
    func `Field paths address nested fields, but neither array elements nor names with a dot`() throws {
        let filter = QueryFilter.field(try QueryFixtures.field("m.x"), .equal(.integer(1)))
        let query = try NormalizedQuery(QueryFixtures.query(where: filter))
        let found = try query.ids(among: [
            ("a", #"{"m": {"x": 1}}"#), ("b", #"{"m.x": 1}"#), ("c", #"{"m": [{"x": 1}]}"#), ("d", #"{"m": {"x": 1.0}}"#),
        ])
        #expect(found == ["a", "d"])
    }

    @Test(
        arguments: [
            ("==", #"{"$reference": "books/b"}"#, ["b"]),
            ("==", #""b""#, ["b"]),
            ("!=", #""b""#, ["__id7__", "__id12__", "7", "a", "c"]),
            ("<", #""b""#, ["__id7__", "__id12__", "7", "a"]),
            ("<", #""__id12__""#, ["__id7__"]),
            (">=", #"{"$reference": "books/b/x/y"}"#, ["c"]),
            (">", #"{"$reference": "authors/b"}"#, ["__id7__", "__id12__", "7", "a", "b", "c"]),
            ("in", #"["c", {"$reference": "books/a"}, {"$reference": "other/b"}]"#, ["a", "c"]),
            ("not-in", #"["c", "a", "7"]"#, ["__id7__", "__id12__", "b"]),
        ]
    )
    func `Operators on the name accept references, and IDs in a collection`(
        op: String,
        operand: String,
        expected: [String]
    ) throws {
        let filter = QueryFilter.field(.documentName, try Case(op, operand, []).condition())
        let query = try NormalizedQuery(QueryFixtures.query(where: filter))
        #expect(try query.ids(among: ["c", "__id12__", "a", "7", "b", "__id7__"].map { ($0, "{}") }) == expected)
    }
}
