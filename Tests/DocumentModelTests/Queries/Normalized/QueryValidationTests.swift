import DocumentModel
import Testing

@Suite("Query validation")
struct QueryValidationTests {
    struct InvalidQuery: Sendable, CustomTestStringConvertible {
        let name: String
        let path: String
        var field: String?
        /// A part of the expected message.
        var text = ""
        let make: @Sendable (inout StructuredQuery) throws -> Void

        var testDescription: String { name }

        /// An invalid filter.
        init(
            _ name: String,
            _ path: String,
            field: String? = "a",
            text: String = "",
            filter: @escaping @Sendable () throws -> QueryFilter
        ) {
            self.init(name, at: path, field: field, text: text) { $0.filter = try filter() }
        }

        init(
            _ name: String,
            at path: String,
            field: String? = nil,
            text: String = "",
            make: @escaping @Sendable (inout StructuredQuery) throws -> Void
        ) {
            self.name = name
            self.path = path
            self.field = field
            self.text = text
            self.make = make
        }
    }

    private static func fieldFilter(_ field: String, _ condition: Condition) throws -> QueryFilter {
        .field(try QueryFixtures.field(field), condition)
    }

    private static let one = Value.integer(1)
    private static let ref = Value.string("id")
    private static let eleven = (0..<11).map { Value.integer($0) }

    private static let filters: [InvalidQuery] = [
        InvalidQuery("empty and", "where.and", field: nil, text: "at least one") { .and([]) },
        InvalidQuery("empty or inside", "where.and[1].or", field: nil, text: "at least one") {
            .and([try fieldFilter("a", .equal(one)), .or([])])
        },
        InvalidQuery("reserved field", "where.field", field: "__a__") { try fieldFilter("__a__", .equal(one)) },
        InvalidQuery("reserved inner field", "where.or[1].field", field: "a.__b__") {
            .or([try fieldFilter("a", .equal(one)), try fieldFilter("a.__b__", .equal(one))])
        },
        InvalidQuery("array in array", "where.value", field: "a[0]") { try fieldFilter("a", .equal(.array([.array([])]))) },
        InvalidQuery("two !=", "where.and[2].op", field: "b", text: "found a second one") {
            .and([try fieldFilter("a", .notEqual(one)), try fieldFilter("c", .equal(one)), try fieldFilter("b", .notEqual(one))])
        },
        InvalidQuery("two !=, of null and NaN", "where.and[1].op", field: "b") {
            .and([try fieldFilter("a", .notEqual(.null)), try fieldFilter("b", .notEqual(.double(.nan)))])
        },
        InvalidQuery("two != in branches", "where.or[1].and[0].op", field: "b") {
            .or([try fieldFilter("a", .notEqual(one)), .and([try fieldFilter("b", .notEqual(one))])])
        },
        InvalidQuery("!= and not-in", "where.and[1].op") {
            .and([try fieldFilter("a", .notEqual(one)), try fieldFilter("a", .notIn([one]))])
        },
        InvalidQuery("two not-in", "where.and[1].op", field: "b") {
            .and([try fieldFilter("a", .notIn([one])), try fieldFilter("b", .notIn([one]))])
        },
        InvalidQuery("not-in and in", "where.and[0].op", text: "with `in` on \"b\"") {
            .and([try fieldFilter("a", .notIn([one])), try fieldFilter("b", .in([one]))])
        },
        InvalidQuery("not-in and array-contains-any", "where.and[1].op", text: "array-contains-any") {
            .and([try fieldFilter("b", .arrayContainsAny([one])), try fieldFilter("a", .notIn([one]))])
        },
        InvalidQuery("not-in and or", "where.and[0].op", text: "combined with `or`") {
            .and([
                try fieldFilter("a", .notIn([one])), .or([try fieldFilter("b", .equal(one)), try fieldFilter("c", .equal(one))]),
            ])
        },
        InvalidQuery("not-in of 11 values", "where.value", text: "at most 10") { try fieldFilter("a", .notIn(eleven)) },
        InvalidQuery("empty in", "where.value", text: "non-empty array") { try fieldFilter("a", .in([])) },
        InvalidQuery("empty not-in", "where.value", text: "non-empty array") { try fieldFilter("a", .notIn([])) },
        InvalidQuery("empty array-contains-any", "where.and[0].value", text: "non-empty array") {
            .and([try fieldFilter("a", .arrayContainsAny([]))])
        },
        InvalidQuery("array-contains of an array", "where.value", field: "a") {
            try fieldFilter("a", .arrayContains(.array([])))
        },
        InvalidQuery("array-contains-any of an array", "where.value[1]", field: "a") {
            try fieldFilter("a", .arrayContainsAny([one, .array([])]))
        },
        InvalidQuery("< null", "where.value") { try fieldFilter("a", .less(.null)) },
        InvalidQuery("<= NaN", "where.value") { try fieldFilter("a", .lessOrEqual(.double(.nan))) },
        InvalidQuery("> null", "where.value") { try fieldFilter("a", .greater(.null)) },
        InvalidQuery(">= NaN", "where.value") { try fieldFilter("a", .greaterOrEqual(.double(.nan))) },
        InvalidQuery("31 disjunctions", "where", field: nil, text: "30 disjunctions") {
            try fieldFilter("a", .in((0..<31).map { .integer($0) }))
        },
        InvalidQuery("31 disjunctions by array-contains-any", "where", field: nil, text: "30 disjunctions") {
            try fieldFilter("a", .arrayContainsAny((0..<31).map { .integer($0) }))
        },
    ]

    private static let names: [InvalidQuery] = [
        InvalidQuery("name compared with an integer", "where.value", field: "__name__") {
            try fieldFilter("__name__", .equal(one))
        },
        InvalidQuery("name of null", "where.value", field: "__name__") { try fieldFilter("__name__", .notEqual(.null)) },
        InvalidQuery("name of an empty id", "where.value", field: nil) { try fieldFilter("__name__", .equal(.string(""))) },
        InvalidQuery("name of a path in a collection", "where.value", field: nil) {
            try fieldFilter("__name__", .greater(.string("a/b")))
        },
        InvalidQuery("list of names with null", "where.value[1]", field: "__name__") {
            try fieldFilter("__name__", .in([ref, .null]))
        },
        InvalidQuery("empty list of names", "where.value", field: "__name__") { try fieldFilter("__name__", .in([])) },
        InvalidQuery("name not-in with an integer", "where.value[0]", field: "__name__") {
            try fieldFilter("__name__", .notIn([one]))
        },
        InvalidQuery("name array-contains", "where.op", field: "__name__") { try fieldFilter("__name__", .arrayContains(ref)) },
        InvalidQuery("name array-contains-any", "where.op", field: "__name__") {
            try fieldFilter("__name__", .arrayContainsAny([ref]))
        },
        InvalidQuery("name near", "where.op", field: "__name__") {
            try fieldFilter("__name__", .near(GeoCircle(center: QueryFixtures.point(0, 0), radius: 1)))
        },
        InvalidQuery("name below another", "where.field", field: "a.__name__") { try fieldFilter("a.__name__", .equal(ref)) },
        InvalidQuery("== name beside an inequality", "where.and[1].op", field: "__name__", text: "here \"a\"") {
            .and([try fieldFilter("a", .notEqual(one)), try fieldFilter("__name__", .equal(ref))])
        },
        InvalidQuery("order by name before an inequality", at: "orderBy[0]", field: "key") { query in
            query.filter = try fieldFilter("key", .notEqual(.integer(42)))
            query.orders = try QueryFixtures.orders(["__name__"])
        },
        InvalidQuery("order by name before the order by an inequality", at: "orderBy[1]", field: "key") { query in
            query.filter = try fieldFilter("key", .greater(.integer(42)))
            query.orders = try QueryFixtures.orders(["a", "__name__", "key"])
        },
        InvalidQuery("group name that is not a document path", at: "startAt.values[0]") { query in
            query.source = .collectionGroup(try CollectionID("c"), below: nil)
            query.start = StructuredQuery.Cursor([.string("c")], isInclusive: true)
        },
    ]

    private static let others: [InvalidQuery] = [
        InvalidQuery("order by a reserved field", at: "orderBy[1].field", field: "__x__") {
            $0.orders = try QueryFixtures.orders(["a", "__x__"])
        },
        InvalidQuery("order by a field twice", at: "orderBy[1]", field: "a") {
            $0.orders = try QueryFixtures.orders(["a", "-a"])
        },
        InvalidQuery("distance of the name", at: "orderBy[0].field", field: "__name__") {
            $0.orders = [StructuredQuery.Order(.distance(of: .documentName, from: try QueryFixtures.point(0, 0)))]
        },
        InvalidQuery("cursor of too many values", at: "startAt.values", text: "at most 2") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.start = StructuredQuery.Cursor([one, ref, one], isInclusive: true)
        },
        InvalidQuery("cursor of no value", at: "endBefore.values") { $0.end = StructuredQuery.Cursor([], isInclusive: false) },
        InvalidQuery("cursor without a reference for the name", at: "startAfter.values[0]", field: "__name__") {
            $0.start = StructuredQuery.Cursor([one], isInclusive: false)
        },
        InvalidQuery("cursor of an invalid value", at: "endAt.values[0]", field: "a[0]") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.end = StructuredQuery.Cursor([.array([.array([])])], isInclusive: true)
        },
        InvalidQuery("cursor with NaN for a distance", at: "endAt.values[0]") {
            $0.orders = [StructuredQuery.Order(.distance(of: try QueryFixtures.field("a"), from: try QueryFixtures.point(0, 0)))]
            $0.end = StructuredQuery.Cursor([.double(.nan)], isInclusive: true)
        },
        InvalidQuery("negative offset", at: "offset") { $0.offset = -1 },
        InvalidQuery("negative limit", at: "limit") { $0.limit = .first(-1) },
        InvalidQuery("negative limit to last", at: "limitToLast") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.limit = .last(-1)
        },
        InvalidQuery(
            "limit to last without order",
            at: "limitToLast",
            text: "limitToLast() queries require specifying at least one orderBy() clause"
        ) { $0.limit = .last(1) },
        InvalidQuery("projected reserved field", at: "select[1]", field: "a.__b__") {
            $0.projection = [.documentName, try QueryFixtures.field("a.__b__")]
        },
        InvalidQuery("search in a reserved field", at: "findNearest.field", field: "__v__") {
            $0.vectorSearch = try search(field: "__v__")
        },
        InvalidQuery("search for no vector", at: "findNearest.vector") { $0.vectorSearch = try search(vector: []) },
        InvalidQuery("search for a long vector", at: "findNearest.vector", text: "2048") {
            $0.vectorSearch = try search(vector: Array(repeating: 1, count: 2_049))
        },
        InvalidQuery("search for NaN", at: "findNearest.vector") { $0.vectorSearch = try search(vector: [1, .nan]) },
        InvalidQuery("search with limit 0", at: "findNearest.limit") { $0.vectorSearch = try search(limit: 0) },
        InvalidQuery("search with limit 1001", at: "findNearest.limit", text: "1000") {
            $0.vectorSearch = try search(limit: 1_001)
        },
        InvalidQuery("search with NaN as threshold", at: "findNearest.distanceThreshold") {
            $0.vectorSearch = try search()
            $0.vectorSearch?.threshold = .nan
        },
        InvalidQuery("search into a reserved field", at: "findNearest.distanceResultField", field: "__d__") {
            $0.vectorSearch = try search()
            $0.vectorSearch?.distanceField = try QueryFixtures.field("__d__")
        },
    ]

    private static func search(field: String = "v", vector: [Double] = [1], limit: Int = 1) throws -> VectorSearch {
        VectorSearch(field: try QueryFixtures.field(field), vector: vector, measure: .cosine, limit: limit)
    }

    @Test(arguments: filters + names + others)
    func `Invalid queries are rejected with the parameter path`(_ invalid: InvalidQuery) throws {
        var query = try QueryFixtures.query()
        try invalid.make(&query)
        let error = try #require(throws: StatusError.self) { try NormalizedQuery(query) }
        #expect(error.code == .invalidArgument)
        #expect(error.parameterPath == invalid.path)
        #expect(error.field == invalid.field)
        #expect(invalid.text.isEmpty || error.message.contains(invalid.text), "\(error.message)")
    }

    @Test
    func `Valid queries are accepted`() throws {
        let list = (0..<10).map { Value.integer($0) }
        for filter in [
            QueryFilter.and([
                try Self.fieldFilter("a", .in(list)),
                try Self.fieldFilter("b", .arrayContainsAny([Self.one, .null, .double(.nan)])),
            ]),
            .and([try Self.fieldFilter("a", .in(list)), try Self.fieldFilter("b", .arrayContains(Self.one))]),
            .and([try Self.fieldFilter("a", .arrayContains(Self.one)), try Self.fieldFilter("a", .arrayContains(.integer(2)))]),
            .and([
                try Self.fieldFilter("a", .notIn(list)), try Self.fieldFilter("b", .arrayContains(Self.one)),
                try Self.fieldFilter("c", .less(Self.one)),
            ]),
            .or([try Self.fieldFilter("a", .notEqual(Self.one)), try Self.fieldFilter("b", .equal(.null))]),
            .or([.and([.or([try Self.fieldFilter("a", .notIn([.null]))])])]),
            try Self.fieldFilter("__name__", .notIn([Self.ref, Self.ref])),
            .and([try Self.fieldFilter("__name__", .greater(Self.ref)), try Self.fieldFilter("a", .notEqual(Self.one))]),
            .or([try Self.fieldFilter("__name__", .equal(Self.ref)), try Self.fieldFilter("a", .greater(Self.one))]),
        ] {
            #expect(throws: Never.self) { try NormalizedQuery(QueryFixtures.query(where: filter)) }
        }
    }
}
