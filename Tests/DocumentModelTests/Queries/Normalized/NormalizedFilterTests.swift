import DocumentModel
import Testing

@Suite("Normalized filters")
struct NormalizedFilterTests {
    private func fieldFilter(_ field: String, _ condition: Condition) throws -> QueryFilter {
        .field(try QueryFixtures.field(field), condition)
    }

    private func is1(_ field: String) throws -> QueryFilter {
        try fieldFilter(field, .equal(.integer(1)))
    }

    /// Returns the fields of the predicates of each disjunct.
    private func fields(_ filter: QueryFilter?) throws -> [[String]] {
        try NormalizedQuery(QueryFixtures.query(where: filter)).filter.disjuncts.map { $0.map(\.field.description) }
    }

    @Test
    func `A filter is normalized to a disjunction of conjunctions`() throws {
        let (a, b, c, d) = (try is1("a"), try is1("b"), try is1("c"), try is1("d"))
        #expect(try fields(nil) == [[]])
        #expect(try fields(a) == [["a"]])
        #expect(try fields(.and([a, b, .and([c])])) == [["a", "b", "c"]])
        #expect(try fields(.or([a, .or([b, c])])) == [["a"], ["b"], ["c"]])
        #expect(try fields(.and([.or([a, b]), .or([c, d])])) == [["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]])
        #expect(try fields(.and([a, .or([b, .and([c, d])])])) == [["a", "b"], ["a", "c", "d"]])
    }

    @Test
    func `Duplicates are removed`() throws {
        let (a, b) = (try is1("a"), try is1("b"))
        #expect(try fields(.and([a, b, a])) == [["a", "b"]])
        #expect(try fields(.or([a, b, a])) == [["a"], ["b"]])
        #expect(try fields(.or([.and([a, b]), .and([b, a])])) == [["a", "b"]])
        let list = try NormalizedQuery(
            QueryFixtures.query(where: fieldFilter("a", .in([.integer(2), .integer(1), .double(2), .null])))
        )
        #expect(
            list.filter
                == (try NormalizedQuery(QueryFixtures.query(where: fieldFilter("a", .in([.integer(1), .integer(2)]))))).filter
        )
    }

    @Test
    func `Unsatisfiable disjuncts are omitted`() throws {
        let b = try is1("b")
        #expect(try fields(fieldFilter("a", .in([.null]))) == [])
        #expect(try fields(.or([fieldFilter("a", .arrayContains(.double(.nan))), b])) == [["b"]])
        #expect(try fields(.and([fieldFilter("a", .arrayContainsAny([.null])), b])) == [])
        #expect(try fields(fieldFilter("a", .notIn([.integer(1), .null]))) == [])
        #expect(try fields(.and([fieldFilter("a", .greater(.integer(1))), fieldFilter("a", .less(.string("b")))])) == [])
        #expect(try fields(.and([fieldFilter("a", .greater(.integer(1))), fieldFilter("a", .lessOrEqual(.integer(1)))])) == [])
        // The implied orders are still those of the whole filter.
        let query = try QueryFixtures.query(where: .or([fieldFilter("a", .notIn([.null]))]))
        #expect(try NormalizedQuery(query).orderTexts == ["a", "__name__"])
    }

    @Test
    func `Ranges on the same field are intersected`() throws {
        let filter = QueryFilter.and([
            try fieldFilter("a", .greater(.integer(1))), try is1("b"), try fieldFilter("a", .greaterOrEqual(.double(1))),
            try fieldFilter("a", .lessOrEqual(.integer(5))), try fieldFilter("a", .less(.integer(9))),
        ])
        let disjuncts = try NormalizedQuery(QueryFixtures.query(where: filter)).filter.disjuncts
        #expect(disjuncts.map { $0.map(\.field.description) } == [["a", "b"]])
        guard case .range(let range)? = disjuncts.first?.first?.test else {
            Issue.record("expected a range first, found \(disjuncts)")
            return
        }
        #expect(range.lower?.value == .integer(1))
        #expect(range.lower?.isInclusive == false)
        #expect(range.upper?.value == .integer(5))
        #expect(range.upper?.isInclusive == true)
    }

    @Test
    func `Ranges of numbers start after NaN, others with their type`() throws {
        func range(_ value: Value) throws -> ValueRange? {
            let query = try NormalizedQuery(QueryFixtures.query(where: fieldFilter("a", .less(value))))
            guard case .range(let range)? = query.filter.disjuncts.first?.first?.test else { return nil }
            return range
        }
        #expect(try range(.integer(1))?.lower?.value == .double(.nan))
        #expect(try range(.integer(1))?.lower?.isInclusive == false)
        #expect(try #require(try range(.string("b"))).lower == nil)
    }

    @Test(
        arguments: [(30, 1, true), (31, 1, false), (6, 5, true), (5, 6, true), (7, 5, false), (1, 31, false)]
    )
    func `A filter has at most 30 disjuncts, where in and array-contains-any count once per value`(
        branches: Int,
        values: Int,
        isValid: Bool
    ) throws {
        let list = (0..<values).map { Value.integer(Int64($0)) }
        let filter = QueryFilter.and([
            .or(try (0..<branches).map { try fieldFilter("a", .equal(.integer(Int64($0)))) }),
            try fieldFilter("b", .in(list)),
        ])
        let query = try QueryFixtures.query(where: filter)
        if isValid {
            #expect(try NormalizedQuery(query).filter.disjuncts.count == branches)
        } else {
            #expect(throws: StatusError.self) { try NormalizedQuery(query) }
        }
    }

    @Test
    func `A filter with far too many disjuncts is rejected without expanding it`() throws {
        let choice = QueryFilter.or([try is1("a"), try is1("b")])
        let query = try QueryFixtures.query(where: .and(Array(repeating: choice, count: 200)))
        let error = #expect(throws: StatusError.self) { try NormalizedQuery(query) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.parameterPath == "where")
    }

    @Test
    func `Very many conditions are normalized in linear time`() throws {
        let filter = QueryFilter.and(try (0..<20_000).map { try fieldFilter("a", .greater(.integer(Int64($0)))) })
        let disjuncts = try NormalizedQuery(QueryFixtures.query(where: filter)).filter.disjuncts
        #expect(disjuncts.map(\.count) == [1])
    }
}
