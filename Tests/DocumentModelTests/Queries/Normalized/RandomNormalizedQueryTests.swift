import DocumentModel
import QueryTestSupport
import TestSupport
import Testing

@Suite("Random normalized queries")
struct RandomNormalizedQueryTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private let documents: [Document] = {
        var random = RandomDocuments(generator: SeededGenerator())
        return random.documents(220)
    }()

    @Test
    func `Results agree with the reference query engine`() throws {
        var random = RandomQueries(generator: SeededGenerator())
        let oracle = QueryOracle(documents)
        var foundSome = 0
        for _ in 0..<2_500 {
            let query = random.query()
            let found = try run(query)
            let expected = oracle.run(query)
            if !expected.isEmpty { foundSome += 1 }
            guard agree(found, expected) else {
                Issue.record("\(query)\nfound \(found.map(\.path))\nexpected \(expected.map(\.path))\n\(Self.seed)")
                return
            }
        }
        #expect(foundSome > 800, "\(Self.seed)")
    }

    @Test
    func `Aggregations agree with the reference query engine`() throws {
        var random = RandomQueries(generator: SeededGenerator())
        let oracle = QueryOracle(documents)
        for _ in 0..<1_000 {
            var query = random.query()
            query.vectorSearch = nil
            let aggregations = random.aggregations()
            let normalized = try NormalizedAggregations(aggregations)
            var state = AggregationState(normalized)
            for document in select(try NormalizedQuery(query, aggregating: normalized.fields)) { state.add(document.fields) }
            let found = normalized.operations.map { state.results[$0.alias] ?? .null }
            let expected = oracle.aggregate(aggregations, of: query)
            guard zip(found, expected).allSatisfy(QueryOracle.isClose) else {
                Issue.record("\(aggregations) of \(query)\nfound \(found)\nexpected \(expected)\n\(Self.seed)")
                return
            }
        }
    }

    private struct Found {
        let path: DocumentPath
        let fields: MapValue
        let distance: Double?
    }

    /// Executes a query without an index.
    private func run(_ query: StructuredQuery) throws -> [Found] {
        let query = try NormalizedQuery(query)
        let documents = select(query)
        guard let search = query.vectorSearch else {
            return documents.map { Found(path: $0.path, fields: query.projected($0.fields), distance: nil) }
        }
        return
            documents.compactMap { document in search.distance(of: document.fields).map { (document, $0) } }
            .sorted { search.measure.isCloser($0.1, than: $1.1) }
            .prefix(search.limit)
            .map { Found(path: $0.path, fields: query.projected($0.fields, distance: $1), distance: $1) }
    }

    private func select(_ query: NormalizedQuery) -> [Document] {
        let matches = documents.filter { query.source.contains($0.path) }
            .compactMap { document in query.match(document.fields, at: document.path).map { (document, key: $0) } }
            .sorted { query.compare($0.key, $1.key) == .less }
            .dropFirst(query.offset)
            .prefix(query.limit ?? .max)
            .map(\.0)
        return query.isReversed ? matches.reversed() : Array(matches)
    }

    private func agree(_ found: [Found], _ expected: [QueryOracle.Found]) -> Bool {
        guard found.count == expected.count else { return false }
        return zip(found, expected).allSatisfy { found, expected in
            // Documents at the same distance may be in any order.
            if let first = found.distance, let second = expected.distance { return abs(first - second) < 1e-9 }
            return found.path == expected.path && found.fields == expected.fields
        }
    }
}
