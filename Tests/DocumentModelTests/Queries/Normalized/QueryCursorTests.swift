import DocumentModel
import Testing

@Suite("Cursors and limits")
struct QueryCursorTests {
    private static let documents: [(id: String, fields: String)] = [
        ("a", #"{"n": 1, "s": "x"}"#), ("b", #"{"n": 2, "s": "x"}"#), ("c", #"{"n": 2.0, "s": "y"}"#), ("d", #"{"n": 3}"#),
        ("e", #"{"n": "3", "s": null}"#), ("f", #"{"n": null, "s": "z"}"#), ("g", "{}"),
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let orders: [String]
        var start: [String]?
        var end: [String]?
        var isInclusive = true
        var offset = 0
        var limit: StructuredQuery.Limit?
        let expected: [String]

        var testDescription: String {
            "\(orders) \(start ?? []) to \(end ?? []) \(isInclusive ? "with" : "without") them, \(offset), \(limit as Any)"
        }
    }

    @Test(
        arguments: [
            Case(orders: ["n"], expected: ["f", "a", "b", "c", "d", "e"]),
            Case(orders: ["n"], start: ["2"], expected: ["b", "c", "d", "e"]),
            Case(orders: ["n"], start: ["2"], isInclusive: false, expected: ["d", "e"]),
            Case(orders: ["n"], end: ["2.0"], expected: ["f", "a", "b", "c"]),
            Case(orders: ["n"], end: ["2"], isInclusive: false, expected: ["f", "a"]),
            Case(orders: ["n"], start: ["1.5"], end: ["2.5"], isInclusive: false, expected: ["b", "c"]),
            Case(orders: ["n"], start: ["true"], expected: ["a", "b", "c", "d", "e"]),
            Case(orders: ["n"], end: ["{}"], expected: ["f", "a", "b", "c", "d", "e"]),
            Case(orders: ["n"], start: ["4"], end: ["1"], expected: []),
            Case(orders: ["-n"], start: ["2"], expected: ["c", "b", "a", "f"]),
            Case(orders: ["-n"], end: ["2"], isInclusive: false, expected: ["e", "d"]),
            Case(orders: ["n"], start: ["2", #""c""#], expected: ["c", "d", "e"]),
            Case(orders: ["n"], start: ["2", #"{"$reference": "books/b"}"#], isInclusive: false, expected: ["c", "d", "e"]),
            Case(orders: ["-n"], start: ["2", #""b""#], expected: ["b", "a", "f"]),
            Case(orders: ["n", "-s"], start: ["2", #""x""#], expected: ["b", "e"]),
            Case(orders: ["n", "-s"], end: ["2", #""y""#, #""c""#], expected: ["f", "a", "c"]),
            Case(orders: [], start: [#""b""#], end: [#""d""#], expected: ["b", "c", "d"]),
            Case(
                orders: ["__name__"],
                start: [#"{"$reference": "books/b/x/y"}"#],
                end: [#"{"$reference": "books/e0/x/y"}"#],
                isInclusive: false,
                expected: ["c", "d", "e"]
            ),
            Case(orders: ["n"], offset: 2, limit: .first(2), expected: ["b", "c"]),
            Case(orders: ["n"], start: ["2"], offset: 1, limit: .first(5), expected: ["c", "d", "e"]),
            Case(orders: ["n"], limit: .first(0), expected: []),
            Case(orders: ["n"], limit: .last(2), expected: ["d", "e"]),
            Case(orders: ["-n"], limit: .last(2), expected: ["a", "f"]),
            Case(orders: ["n"], start: ["2"], limit: .last(9), expected: ["b", "c", "d", "e"]),
            Case(orders: ["n"], end: ["2"], limit: .last(2), expected: ["b", "c"]),
            Case(orders: ["n"], end: ["2"], isInclusive: false, limit: .last(1), expected: ["a"]),
            Case(orders: ["n"], start: ["2"], isInclusive: false, limit: .last(5), expected: ["d", "e"]),
        ]
    )
    func `Cursors limit the result at values that need not exist`(_ test: Case) throws {
        var query = try QueryFixtures.query(orders: test.orders, limit: test.limit)
        query.start = try test.start.map { StructuredQuery.Cursor(try QueryFixtures.values($0), isInclusive: test.isInclusive) }
        query.end = try test.end.map { StructuredQuery.Cursor(try QueryFixtures.values($0), isInclusive: test.isInclusive) }
        query.offset = test.offset
        #expect(try NormalizedQuery(query).ids(among: Self.documents) == test.expected)
    }

    @Test
    func `A limit to the last documents reverses the orders and swaps the cursors`() throws {
        var query = try QueryFixtures.query(orders: ["a", "-b"], limit: .last(3))
        query.start = StructuredQuery.Cursor([.integer(1)], isInclusive: false)
        query.end = StructuredQuery.Cursor([.integer(2), .null], isInclusive: true)
        let normalized = try NormalizedQuery(query)
        #expect(normalized.orderTexts == ["-a", "b", "__name__"])
        #expect(normalized.start == query.end)
        #expect(normalized.end == query.start)
        #expect(normalized.limit == 3)
        #expect(normalized.isReversed)
    }

    @Test
    func `String values for the name are IDs in a collection, and relative paths in a collection group`() throws {
        let group = try CollectionID("c")
        let parent = try DocumentPath("a/b")
        for (source, text, path) in [
            (StructuredQuery.Source.collection(try CollectionPath("a/b/c")), "x", "a/b/c/x"),
            (.collectionGroup(group, below: nil), "c/x", "c/x"),
            (.collectionGroup(group, below: parent), "c/x", "a/b/c/x"),
            (.descendants(of: parent), "d/y/e/z", "a/b/d/y/e/z"),
        ] {
            var query = StructuredQuery(source)
            query.start = StructuredQuery.Cursor([.string(text)], isInclusive: true)
            #expect(try NormalizedQuery(query).start?.values == [try QueryFixtures.reference(path)])
        }
    }
}
