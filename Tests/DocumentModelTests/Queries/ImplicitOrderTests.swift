import DocumentModel
import Testing

@Suite("The order of a query")
struct ImplicitOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var orders: [String] = []
        /// Fields with a condition `>`, or `!=` before a `!`.
        var inequalities: [String] = []
        var equalities: [String] = []
        let expected: [String]

        var testDescription: String { "\(orders) with \(inequalities) and \(equalities)" }

        func query() throws -> Query {
            let conditions = try inequalities.map { text -> Filter in
                text.utf8.first == UInt8(ascii: "!")
                    ? .field(try QueryFixtures.field(String(text.dropFirst())), .notEqual(.integer(42)))
                    : .field(
                        try QueryFixtures.field(text),
                        .greater(text == "__name__" ? .string("a") : .integer(1))
                    )
            }
            let filters = try conditions + equalities.map { .field(try QueryFixtures.field($0), .equal(.integer(1))) }
            return try QueryFixtures.query(where: filters.isEmpty ? nil : .and(filters), orders: orders)
        }
    }

    @Test(
        "is the explicit one, then the fields with an inequality, then the name, in the last explicit direction",
        arguments: [
            Case(expected: ["__name__"]),
            Case(orders: ["a"], expected: ["a", "__name__"]),
            Case(orders: ["-a"], expected: ["-a", "-__name__"]),
            Case(orders: ["-a", "b"], expected: ["-a", "b", "__name__"]),
            Case(orders: ["-__name__"], expected: ["-__name__"]),
            Case(orders: ["a", "-__name__"], expected: ["a", "-__name__"]),
            Case(orders: ["__name__", "a"], expected: ["__name__", "a"]),
            Case(orders: ["-foo"], inequalities: ["foo"], expected: ["-foo", "-__name__"]),
            Case(inequalities: ["sort", "!key"], expected: ["key", "sort", "__name__"]),
            Case(inequalities: ["!key", "sort"], expected: ["key", "sort", "__name__"]),
            Case(orders: ["-v", "sort"], inequalities: ["sort", "!key"], expected: ["-v", "sort", "key", "__name__"]),
            Case(orders: ["-v"], inequalities: ["b.c", "a", "b"], expected: ["-v", "-a", "-b", "-b.c", "-__name__"]),
            Case(inequalities: ["b", "B", "a.b", "`a-`"], expected: ["B", "a.b", "`a-`", "b", "__name__"]),
            Case(inequalities: ["__name__"], expected: ["__name__"]),
            Case(inequalities: ["__name__", "a"], expected: ["a", "__name__"]),
            Case(equalities: ["a"], expected: ["__name__"]),
        ]
    )
    func complete(_ test: Case) throws {
        #expect(try NormalizedQuery(test.query()).orderTexts == test.expected)
    }

    @Test("keeps out documents without one of its fields, and keeps those with null")
    func missing() throws {
        let query = try NormalizedQuery(QueryFixtures.query(orders: ["a", "-b.c"]))
        #expect(query.requiredFields.map(\.description) == ["a", "b.c"])
        let found = try query.ids(among: [
            ("1", #"{"a": 1, "b": {"c": 1}}"#), ("2", #"{"a": 1}"#), ("3", #"{"a": null, "b": {"c": null}}"#),
            ("4", #"{"b": {"c": 1}}"#), ("5", #"{"a": 1, "b": {"c": "x"}}"#),
        ])
        #expect(found == ["3", "5", "1"])
    }

    @Test("holds for every branch of an or")
    func or() throws {
        let filter = Filter.or([
            .field(try QueryFixtures.field("a"), .greater(.integer(1))),
            .field(try QueryFixtures.field("b"), .equal(.integer(1))),
        ])
        let query = try NormalizedQuery(QueryFixtures.query(where: filter))
        let found = try query.ids(among: [
            ("1", #"{"a": 3}"#), ("2", #"{"b": 1}"#), ("3", #"{"a": 0, "b": 1}"#), ("4", #"{"a": 2, "b": 0}"#),
            ("5", #"{"a": 1}"#),
        ])
        #expect(found == ["3", "4", "1"])
    }

    @Test("lets ties fall to the name, in the direction of the order")
    func ties() throws {
        let documents = ["a", "b", "c", "f", "g", "__id5__"].map { (id: $0, fields: #"{"foo": \#($0 == "b" ? 23 : 22.0)}"#) }
        let filter = Filter.field(try QueryFixtures.field("foo"), .greater(.double(21)))
        let descending = try NormalizedQuery(QueryFixtures.query(where: filter, orders: ["-foo"]))
        #expect(try descending.ids(among: documents) == ["b", "g", "f", "c", "a", "__id5__"])
        let ascending = try NormalizedQuery(QueryFixtures.query(where: filter))
        #expect(try ascending.ids(among: documents) == ["__id5__", "a", "c", "f", "g", "b"])
    }

    @Test("sees the first 1,500 bytes of texts, so that ties between longer ones fall to the name")
    func longTexts() throws {
        let seen = String(repeating: "x", count: 1_499)
        let documents = [("e", seen + "a"), ("d", seen + "xa"), ("c", seen + "xb"), ("b", seen + "x"), ("a", seen + "y")].map {
            (id: $0.0, fields: #"{"v": "\#($0.1)"}"#)
        }
        #expect(try NormalizedQuery(QueryFixtures.query(orders: ["v"])).ids(among: documents) == ["e", "b", "c", "d", "a"])
        #expect(try NormalizedQuery(QueryFixtures.query(orders: ["-v"])).ids(among: documents) == ["a", "d", "c", "b", "e"])
        var query = try QueryFixtures.query(orders: ["v"])
        query.start = Query.Cursor([.string(seen + "xz")], isInclusive: true)
        #expect(try NormalizedQuery(query).ids(among: documents) == ["b", "c", "d", "a"])
        query.start?.isInclusive = false
        #expect(try NormalizedQuery(query).ids(among: documents) == ["a"])
    }

    @Test("goes through all types as values do")
    func types() throws {
        let values = [
            "null", "false", "true", #"{"$double": "NaN"}"#, "-1", "1.5", #"{"$timestamp": "2020-01-01T00:00:00Z"}"#, #""Ｐ""#,
            #""🐵""#, #"{"$bytes": "AA=="}"#, #"{"$reference": "a/b"}"#, #"{"$geoPoint": {"latitude": 1, "longitude": 1}}"#, "[1]",
            #"{"$vector": [100]}"#, #"{"$vector": [1, 2]}"#, "{}",
        ]
        let documents = values.enumerated().map { (id: "\($0.offset)", fields: #"{"v": \#($0.element)}"#) }
        let query = try NormalizedQuery(QueryFixtures.query(orders: ["v"]))
        #expect(try query.ids(among: documents.reversed()) == documents.map(\.id))
    }

    @Test("takes in aggregated fields before the name, except where the name has its own place")
    func aggregated() throws {
        let fields = try ["b", "a.c"].map { try FieldPath($0) }
        func texts(_ query: Query) throws -> [String] { try NormalizedQuery(query, aggregating: fields.sorted()).orderTexts }
        #expect(try texts(QueryFixtures.query()) == ["a.c", "b", "__name__"])
        #expect(try texts(QueryFixtures.query(orders: ["-b"])) == ["-b", "-a.c", "-__name__"])
        #expect(try texts(QueryFixtures.query(orders: ["__name__"])) == ["__name__"])
        var query = try QueryFixtures.query()
        query.start = Query.Cursor([.string("x")], isInclusive: true)
        #expect(try texts(query) == ["__name__"])
        #expect(try NormalizedQuery(query, aggregating: fields).requiredFields == fields.sorted())
    }
}
