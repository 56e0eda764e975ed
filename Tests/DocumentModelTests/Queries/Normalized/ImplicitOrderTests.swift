import DocumentModel
import Testing

@Suite("Implied orders")
struct ImplicitOrderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var orders: [String] = []
        /// Fields with a condition `>`, or `!=` if prefixed with `!`.
        var inequalities: [String] = []
        var equalities: [String] = []
        let expected: [String]

        var testDescription: String { "\(orders) with \(inequalities) and \(equalities)" }

        func query() throws -> StructuredQuery {
            let conditions = try inequalities.map { text -> QueryFilter in
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
    func `Orders are the explicit ones, the fields with an inequality, and the name, in the last explicit direction`(
        _ test: Case
    ) throws {
        #expect(try NormalizedQuery(test.query()).orderTexts == test.expected)
    }

    @Test
    func `Documents without a field of the orders are excluded, and null is included`() throws {
        let query = try NormalizedQuery(QueryFixtures.query(orders: ["a", "-b.c"]))
        #expect(query.requiredFields.map(\.description) == ["a", "b.c"])
        let found = try query.ids(among: [
            ("1", #"{"a": 1, "b": {"c": 1}}"#), ("2", #"{"a": 1}"#), ("3", #"{"a": null, "b": {"c": null}}"#),
            ("4", #"{"b": {"c": 1}}"#), ("5", #"{"a": 1, "b": {"c": "x"}}"#),
        ])
        #expect(found == ["3", "5", "1"])
    }

    @Test
    func `The orders apply to every disjunct`() throws {
        let filter = QueryFilter.or([
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

    @Test
    func `Ties are ordered by name, in the direction of the order`() throws {
        let documents = ["a", "b", "c", "f", "g", "__id5__"].map { (id: $0, fields: #"{"foo": \#($0 == "b" ? 23 : 22.0)}"#) }
        let filter = QueryFilter.field(try QueryFixtures.field("foo"), .greater(.double(21)))
        let descending = try NormalizedQuery(QueryFixtures.query(where: filter, orders: ["-foo"]))
        #expect(try descending.ids(among: documents) == ["b", "g", "f", "c", "a", "__id5__"])
        let ascending = try NormalizedQuery(QueryFixtures.query(where: filter))
        #expect(try ascending.ids(among: documents) == ["__id5__", "a", "c", "f", "g", "b"])
    }

    @Test
    func `Strings are compared by their first 1,500 bytes, and ties are ordered by name`() throws {
        let prefix = String(repeating: "x", count: 1_499)
        let documents = [
            ("e", prefix + "a"), ("d", prefix + "xa"), ("c", prefix + "xb"), ("b", prefix + "x"), ("a", prefix + "y"),
        ].map {
            (id: $0.0, fields: #"{"v": "\#($0.1)"}"#)
        }
        #expect(try NormalizedQuery(QueryFixtures.query(orders: ["v"])).ids(among: documents) == ["e", "b", "c", "d", "a"])
        #expect(try NormalizedQuery(QueryFixtures.query(orders: ["-v"])).ids(among: documents) == ["a", "d", "c", "b", "e"])
        var query = try QueryFixtures.query(orders: ["v"])
        query.start = StructuredQuery.Cursor([.string(prefix + "xz")], isInclusive: true)
        #expect(try NormalizedQuery(query).ids(among: documents) == ["b", "c", "d", "a"])
        query.start?.isInclusive = false
        #expect(try NormalizedQuery(query).ids(among: documents) == ["a"])
    }

    @Test
    func `Types are ordered as values are`() throws {
        let values = [
            "null", "false", "true", #"{"$double": "NaN"}"#, "-1", "1.5", #"{"$timestamp": "2020-01-01T00:00:00Z"}"#, #""Ｐ""#,
            #""🐵""#, #"{"$bytes": "AA=="}"#, #"{"$reference": "a/b"}"#, #"{"$geoPoint": {"latitude": 1, "longitude": 1}}"#, "[1]",
            #"{"$vector": [100]}"#, #"{"$vector": [1, 2]}"#, "{}",
        ]
        let documents = values.enumerated().map { (id: "\($0.offset)", fields: #"{"v": \#($0.element)}"#) }
        let query = try NormalizedQuery(QueryFixtures.query(orders: ["v"]))
        #expect(try query.ids(among: documents.reversed()) == documents.map(\.id))
    }

    @Test
    func `Aggregated fields come before an implied order by name`() throws {
        let fields = try ["b", "a.c"].map { try FieldPath($0) }
        func texts(_ query: StructuredQuery) throws -> [String] {
            try NormalizedQuery(query, aggregating: fields.sorted()).orderTexts
        }
        #expect(try texts(QueryFixtures.query()) == ["a.c", "b", "__name__"])
        #expect(try texts(QueryFixtures.query(orders: ["-b"])) == ["-b", "-a.c", "-__name__"])
        #expect(try texts(QueryFixtures.query(orders: ["__name__"])) == ["__name__"])
        var query = try QueryFixtures.query()
        query.start = StructuredQuery.Cursor([.string("x")], isInclusive: true)
        #expect(try texts(query) == ["__name__"])
        #expect(try NormalizedQuery(query, aggregating: fields).requiredFields == fields.sorted())
    }
}
