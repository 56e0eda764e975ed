import DocumentModel
import StrictJSON
import Testing

@Suite("Faults of queries")
struct QueryErrorTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let place: String
        var field: String?
        /// Part of the message.
        var text = ""
        let make: @Sendable (inout Query) throws -> Void

        var testDescription: String { name }

        /// A fault of the filter alone.
        init(
            _ name: String,
            _ place: String,
            field: String? = "a",
            text: String = "",
            filter: @escaping @Sendable () throws -> Filter
        ) {
            self.init(name, at: place, field: field, text: text) { $0.filter = try filter() }
        }

        init(
            _ name: String,
            at place: String,
            field: String? = nil,
            text: String = "",
            make: @escaping @Sendable (inout Query) throws -> Void
        ) {
            self.name = name
            self.place = place
            self.field = field
            self.text = text
            self.make = make
        }
    }

    private static func leaf(_ field: String, _ condition: Condition) throws -> Filter {
        .field(try QueryFixtures.field(field), condition)
    }

    private static let one = Value.integer(1)
    private static let ref = Value.string("id")
    private static let eleven = (0..<11).map { Value.integer($0) }

    private static let filters: [Fault] = [
        Fault("empty and", "where.and", field: nil, text: "at least one") { .and([]) },
        Fault("empty or inside", "where.and[1].or", field: nil, text: "at least one") {
            .and([try leaf("a", .equal(one)), .or([])])
        },
        Fault("reserved field", "where.field", field: "__a__") { try leaf("__a__", .equal(one)) },
        Fault("reserved inner field", "where.or[1].field", field: "a.__b__") {
            .or([try leaf("a", .equal(one)), try leaf("a.__b__", .equal(one))])
        },
        Fault("array in array", "where.value", field: "a[0]") { try leaf("a", .equal(.array([.array([])]))) },
        Fault("two !=", "where.and[2].op", field: "b", text: "another before it") {
            .and([try leaf("a", .notEqual(one)), try leaf("c", .equal(one)), try leaf("b", .notEqual(one))])
        },
        Fault("two !=, of null and NaN", "where.and[1].op", field: "b") {
            .and([try leaf("a", .notEqual(.null)), try leaf("b", .notEqual(.double(.nan)))])
        },
        Fault("two != in branches", "where.or[1].and[0].op", field: "b") {
            .or([try leaf("a", .notEqual(one)), .and([try leaf("b", .notEqual(one))])])
        },
        Fault("!= and not-in", "where.and[1].op") { .and([try leaf("a", .notEqual(one)), try leaf("a", .notIn([one]))]) },
        Fault("two not-in", "where.and[1].op", field: "b") {
            .and([try leaf("a", .notIn([one])), try leaf("b", .notIn([one]))])
        },
        Fault("not-in and in", "where.and[0].op", text: "with in on \"b\"") {
            .and([try leaf("a", .notIn([one])), try leaf("b", .in([one]))])
        },
        Fault("not-in and array-contains-any", "where.and[1].op", text: "array-contains-any") {
            .and([try leaf("b", .arrayContainsAny([one])), try leaf("a", .notIn([one]))])
        },
        Fault("not-in and or", "where.and[0].op", text: "combined with or") {
            .and([try leaf("a", .notIn([one])), .or([try leaf("b", .equal(one)), try leaf("c", .equal(one))])])
        },
        Fault("not-in of 11 values", "where.value", text: "at most 10") { try leaf("a", .notIn(eleven)) },
        Fault("empty in", "where.value", text: "non-empty array") { try leaf("a", .in([])) },
        Fault("empty not-in", "where.value", text: "non-empty array") { try leaf("a", .notIn([])) },
        Fault("empty array-contains-any", "where.and[0].value", text: "non-empty array") {
            .and([try leaf("a", .arrayContainsAny([]))])
        },
        Fault("array-contains of an array", "where.value", field: "a") { try leaf("a", .arrayContains(.array([]))) },
        Fault("array-contains-any of an array", "where.value[1]", field: "a") {
            try leaf("a", .arrayContainsAny([one, .array([])]))
        },
        Fault("< null", "where.value") { try leaf("a", .less(.null)) },
        Fault("<= NaN", "where.value") { try leaf("a", .lessOrEqual(.double(.nan))) },
        Fault("> null", "where.value") { try leaf("a", .greater(.null)) },
        Fault(">= NaN", "where.value") { try leaf("a", .greaterOrEqual(.double(.nan))) },
        Fault("31 disjunctions", "where", field: nil, text: "30 disjunctions") {
            try leaf("a", .in((0..<31).map { .integer($0) }))
        },
        Fault("31 disjunctions by array-contains-any", "where", field: nil, text: "30 disjunctions") {
            try leaf("a", .arrayContainsAny((0..<31).map { .integer($0) }))
        },
    ]

    private static let names: [Fault] = [
        Fault("name of no reference", "where.value", field: "__name__") { try leaf("__name__", .equal(one)) },
        Fault("name of null", "where.value", field: "__name__") { try leaf("__name__", .notEqual(.null)) },
        Fault("name of an empty id", "where.value", field: nil) { try leaf("__name__", .equal(.string(""))) },
        Fault("name of a path in a collection", "where.value", field: nil) { try leaf("__name__", .greater(.string("a/b"))) },
        Fault("list of names with null", "where.value[1]", field: "__name__") { try leaf("__name__", .in([ref, .null])) },
        Fault("empty list of names", "where.value", field: "__name__") { try leaf("__name__", .in([])) },
        Fault("name not in no references", "where.value[0]", field: "__name__") { try leaf("__name__", .notIn([one])) },
        Fault("name array-contains", "where.op", field: "__name__") { try leaf("__name__", .arrayContains(ref)) },
        Fault("name array-contains-any", "where.op", field: "__name__") { try leaf("__name__", .arrayContainsAny([ref])) },
        Fault("name near", "where.op", field: "__name__") {
            try leaf("__name__", .near(GeoCircle(center: QueryFixtures.point(0, 0), radius: 1)))
        },
        Fault("name below another", "where.field", field: "a.__name__") { try leaf("a.__name__", .equal(ref)) },
        Fault("== name beside an inequality", "where.and[1].op", field: "__name__", text: "as on \"a\"") {
            .and([try leaf("a", .notEqual(one)), try leaf("__name__", .equal(ref))])
        },
        Fault("order by name before an inequality", at: "orderBy[0]", field: "key") { query in
            query.filter = try leaf("key", .notEqual(.integer(42)))
            query.orders = try QueryFixtures.orders(["__name__"])
        },
        Fault("order by name before the order by an inequality", at: "orderBy[1]", field: "key") { query in
            query.filter = try leaf("key", .greater(.integer(42)))
            query.orders = try QueryFixtures.orders(["a", "__name__", "key"])
        },
        Fault("group name that is no document path", at: "startAt.values[0]") { query in
            query.source = .collectionGroup(try CollectionID("c"), below: nil)
            query.start = Query.Cursor([.string("c")], isInclusive: true)
        },
    ]

    private static let others: [Fault] = [
        Fault("order by a reserved field", at: "orderBy[1].field", field: "__x__") {
            $0.orders = try QueryFixtures.orders(["a", "__x__"])
        },
        Fault("order by a field twice", at: "orderBy[1]", field: "a") { $0.orders = try QueryFixtures.orders(["a", "-a"]) },
        Fault("distance of the name", at: "orderBy[0].field", field: "__name__") {
            $0.orders = [Query.Order(.distance(of: .documentName, from: try QueryFixtures.point(0, 0)))]
        },
        Fault("cursor of too many values", at: "startAt.values", text: "at most 2") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.start = Query.Cursor([one, ref, one], isInclusive: true)
        },
        Fault("cursor of no value", at: "endBefore.values") { $0.end = Query.Cursor([], isInclusive: false) },
        Fault("cursor of no name", at: "startAfter.values[0]", field: "__name__") {
            $0.start = Query.Cursor([one], isInclusive: false)
        },
        Fault("cursor of a faulty value", at: "endAt.values[0]", field: "a[0]") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.end = Query.Cursor([.array([.array([])])], isInclusive: true)
        },
        Fault("cursor of no distance", at: "endAt.values[0]") {
            $0.orders = [Query.Order(.distance(of: try QueryFixtures.field("a"), from: try QueryFixtures.point(0, 0)))]
            $0.end = Query.Cursor([.double(.nan)], isInclusive: true)
        },
        Fault("negative offset", at: "offset") { $0.offset = -1 },
        Fault("negative limit", at: "limit") { $0.limit = .first(-1) },
        Fault("negative limit to last", at: "limitToLast") {
            $0.orders = try QueryFixtures.orders(["a"])
            $0.limit = .last(-1)
        },
        Fault(
            "limit to last without order",
            at: "limitToLast",
            text: "limitToLast() queries require specifying at least one orderBy() clause"
        ) { $0.limit = .last(1) },
        Fault("wanted reserved field", at: "select[1]", field: "a.__b__") {
            $0.projection = [.documentName, try QueryFixtures.field("a.__b__")]
        },
        Fault("search in a reserved field", at: "findNearest.field", field: "__v__") {
            $0.vectorSearch = try search(field: "__v__")
        },
        Fault("search for no vector", at: "findNearest.vector") { $0.vectorSearch = try search(vector: []) },
        Fault("search for a long vector", at: "findNearest.vector", text: "2048") {
            $0.vectorSearch = try search(vector: Array(repeating: 1, count: 2_049))
        },
        Fault("search for NaN", at: "findNearest.vector") { $0.vectorSearch = try search(vector: [1, .nan]) },
        Fault("search for nothing", at: "findNearest.limit") { $0.vectorSearch = try search(limit: 0) },
        Fault("search for too much", at: "findNearest.limit", text: "1000") { $0.vectorSearch = try search(limit: 1_001) },
        Fault("search with NaN as threshold", at: "findNearest.distanceThreshold") {
            $0.vectorSearch = try search()
            $0.vectorSearch?.threshold = .nan
        },
        Fault("search into a reserved field", at: "findNearest.distanceResultField", field: "__d__") {
            $0.vectorSearch = try search()
            $0.vectorSearch?.distanceField = try QueryFixtures.field("__d__")
        },
    ]

    private static func search(field: String = "v", vector: [Double] = [1], limit: Int = 1) throws -> VectorSearch {
        VectorSearch(field: try QueryFixtures.field(field), vector: vector, measure: .cosine, limit: limit)
    }

    @Test("are refused with their place", arguments: filters + names + others)
    func refused(_ fault: Fault) throws {
        var query = try QueryFixtures.query()
        try fault.make(&query)
        let error = try #require(throws: StatusError.self) { try NormalizedQuery(query) }
        #expect(error.code == .invalidArgument)
        #expect(error.place == fault.place)
        #expect(error.field == fault.field)
        #expect(fault.text.isEmpty || error.message.contains(fault.text), "\(error.message)")
    }

    @Test("are none of these")
    func allowed() throws {
        let list = (0..<10).map { Value.integer($0) }
        for filter in [
            Filter.and([try Self.leaf("a", .in(list)), try Self.leaf("b", .arrayContainsAny([Self.one, .null, .double(.nan)]))]),
            .and([try Self.leaf("a", .in(list)), try Self.leaf("b", .arrayContains(Self.one))]),
            .and([try Self.leaf("a", .arrayContains(Self.one)), try Self.leaf("a", .arrayContains(.integer(2)))]),
            .and([
                try Self.leaf("a", .notIn(list)), try Self.leaf("b", .arrayContains(Self.one)),
                try Self.leaf("c", .less(Self.one)),
            ]),
            .or([try Self.leaf("a", .notEqual(Self.one)), try Self.leaf("b", .equal(.null))]),
            .or([.and([.or([try Self.leaf("a", .notIn([.null]))])])]),
            try Self.leaf("__name__", .notIn([Self.ref, Self.ref])),
            .and([try Self.leaf("__name__", .greater(Self.ref)), try Self.leaf("a", .notEqual(Self.one))]),
            .or([try Self.leaf("__name__", .equal(Self.ref)), try Self.leaf("a", .greater(Self.one))]),
        ] {
            #expect(throws: Never.self) { try NormalizedQuery(QueryFixtures.query(where: filter)) }
        }
    }
}
