import DocumentModel
import Testing

@Suite("The normal form of filters")
struct NormalizedFilterTests {
    private func leaf(_ field: String, _ condition: Condition) throws -> Filter {
        .field(try QueryFixtures.field(field), condition)
    }

    private func is1(_ field: String) throws -> Filter {
        try leaf(field, .equal(.integer(1)))
    }

    /// The fields of the predicates, alternative by alternative.
    private func fields(_ filter: Filter?) throws -> [[String]] {
        try NormalizedQuery(QueryFixtures.query(where: filter)).filter.alternatives.map { $0.map(\.field.description) }
    }

    @Test("is a list of alternatives of predicates")
    func alternatives() throws {
        let (a, b, c, d) = (try is1("a"), try is1("b"), try is1("c"), try is1("d"))
        #expect(try fields(nil) == [[]])
        #expect(try fields(a) == [["a"]])
        #expect(try fields(.and([a, b, .and([c])])) == [["a", "b", "c"]])
        #expect(try fields(.or([a, .or([b, c])])) == [["a"], ["b"], ["c"]])
        #expect(try fields(.and([.or([a, b]), .or([c, d])])) == [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]])
        #expect(try fields(.and([a, .or([b, .and([c, d])])])) == [["a", "b"], ["a", "c", "d"]])
    }

    @Test("has no duplicates")
    func duplicates() throws {
        let (a, b) = (try is1("a"), try is1("b"))
        #expect(try fields(.and([a, b, a])) == [["a", "b"]])
        #expect(try fields(.or([a, b, a])) == [["a"], ["b"]])
        #expect(try fields(.or([.and([a, b]), .and([b, a])])) == [["a", "b"]])
        let list = try NormalizedQuery(QueryFixtures.query(where: leaf("a", .in([.integer(2), .integer(1), .double(2), .null]))))
        #expect(
            list.filter == (try NormalizedQuery(QueryFixtures.query(where: leaf("a", .in([.integer(1), .integer(2)]))))).filter
        )
    }

    @Test("leaves out what nothing can fulfil")
    func impossible() throws {
        let b = try is1("b")
        #expect(try fields(leaf("a", .in([.null]))) == [])
        #expect(try fields(.or([leaf("a", .arrayContains(.double(.nan))), b])) == [["b"]])
        #expect(try fields(.and([leaf("a", .arrayContainsAny([.null])), b])) == [])
        #expect(try fields(leaf("a", .notIn([.integer(1), .null]))) == [])
        #expect(try fields(.and([leaf("a", .greater(.integer(1))), leaf("a", .less(.string("b")))])) == [])
        #expect(try fields(.and([leaf("a", .greater(.integer(1))), leaf("a", .lessOrEqual(.integer(1)))])) == [])
        // The order is that of the whole filter all the same.
        let query = try QueryFixtures.query(where: .or([leaf("a", .notIn([.null]))]))
        #expect(try NormalizedQuery(query).orderTexts == ["a", "__name__"])
    }

    @Test("joins the ranges of one field")
    func ranges() throws {
        let filter = Filter.and([
            try leaf("a", .greater(.integer(1))), try is1("b"), try leaf("a", .greaterOrEqual(.double(1))),
            try leaf("a", .lessOrEqual(.integer(5))), try leaf("a", .less(.integer(9))),
        ])
        let alternatives = try NormalizedQuery(QueryFixtures.query(where: filter)).filter.alternatives
        #expect(alternatives.map { $0.map(\.field.description) } == [["a", "b"]])
        guard case .range(let range)? = alternatives.first?.first?.test else {
            Issue.record("expected a range first, found \(alternatives)")
            return
        }
        #expect(range.lower?.value == .integer(1))
        #expect(range.lower?.isInclusive == false)
        #expect(range.upper?.value == .integer(5))
        #expect(range.upper?.isInclusive == true)
    }

    @Test("begins ranges of numbers after NaN, others with their type")
    func rangeBeginnings() throws {
        func range(_ value: Value) throws -> ValueRange? {
            let query = try NormalizedQuery(QueryFixtures.query(where: leaf("a", .less(value))))
            guard case .range(let range)? = query.filter.alternatives.first?.first?.test else { return nil }
            return range
        }
        #expect(try range(.integer(1))?.lower?.value == .double(.nan))
        #expect(try range(.integer(1))?.lower?.isInclusive == false)
        #expect(try #require(try range(.string("b"))).lower == nil)
    }

    @Test(
        "may have 30 disjunctions, where in and array-contains-any count as many as they have values",
        arguments: [(30, 1, true), (31, 1, false), (6, 5, true), (5, 6, true), (7, 5, false), (1, 31, false)]
    )
    func limit(branches: Int, values: Int, isValid: Bool) throws {
        let list = (0..<values).map { Value.integer(Int64($0)) }
        let filter = Filter.and([
            .or(try (0..<branches).map { try leaf("a", .equal(.integer(Int64($0)))) }),
            try leaf("b", .in(list)),
        ])
        let query = try QueryFixtures.query(where: filter)
        if isValid {
            #expect(try NormalizedQuery(query).filter.alternatives.count == branches)
        } else {
            #expect(throws: StatusError.self) { try NormalizedQuery(query) }
        }
    }

    @Test("is not worked out for a filter that has far too many disjunctions")
    func overflow() throws {
        let choice = Filter.or([try is1("a"), try is1("b")])
        let query = try QueryFixtures.query(where: .and(Array(repeating: choice, count: 200)))
        let error = #expect(throws: StatusError.self) { try NormalizedQuery(query) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.place == "where")
    }

    @Test("of very many conditions is made in time")
    func long() throws {
        let filter = Filter.and(try (0..<20_000).map { try leaf("a", .greater(.integer(Int64($0)))) })
        let alternatives = try NormalizedQuery(QueryFixtures.query(where: filter)).filter.alternatives
        #expect(alternatives.map(\.count) == [1])
    }
}
