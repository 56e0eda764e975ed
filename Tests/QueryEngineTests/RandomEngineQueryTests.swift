import DocumentModel
import DocumentStore
import QueryEngine
import QueryTestSupport
import TestSupport
import Testing

/// Compares the results of queries over an in-memory index with those of a reference implementation. Only the contracts of the
/// index and document protocols matter.
///
/// `HEARTH_TEST_SEED` sets the seed.
@Suite("Random queries over any index")
struct RandomEngineQueryTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private let readTime: Timestamp
    private let later: Timestamp

    init() throws {
        readTime = try Timestamp(microseconds: 1_000)
        later = try Timestamp(microseconds: 2_000)
    }

    @Test
    func `Queries return the same documents, order and fields as the reference`() throws {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(220)
        let index = InMemoryIndex(documents, at: readTime)
        try compare(index, InMemoryDocuments(documents, at: readTime), QueryOracle(documents), count: 400)
    }

    @Test
    func `Queries return the documents as of a time before commits in the index`() throws {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(200)
        // Deletes some documents, changes some and adds some.
        let (deleted, kept) = (documents.prefix(40), documents.dropFirst(40))
        let rewritten = kept.prefix(40).map { document in
            Document(path: document.path, fields: random.fields(), createTime: .minimum, updateTime: later)
        }
        let known = Set(documents.map(\.path))
        let added = random.documents(60).filter { !known.contains($0.path) }
        let index = InMemoryIndex(kept.dropFirst(40) + rewritten + added, at: later)
        let changed = Set(deleted.map(\.path) + rewritten.map(\.path) + added.map(\.path))
        let reader = InMemoryDocuments(documents, at: readTime, changed: changed)
        try compare(index, reader, QueryOracle(documents), count: 250)
    }

    @Test
    func `Queries return the same with any composite indexes and exemptions`() throws {
        var random = RandomDocuments(generator: SeededGenerator())
        var generator = SeededGenerator()
        let documents = random.documents(220)
        for _ in 0..<4 {
            let index = InMemoryIndex(documents, at: readTime, policies: policies(&generator))
            try compare(index, InMemoryDocuments(documents, at: readTime), QueryOracle(documents), count: 100, mayReject: true)
        }
    }

    @Test(arguments: [32 << 20, 1_500])
    func `Aggregations have the same results as the reference, with any memory for joins`(maximumJoinBytes: Int) throws {
        var random = RandomDocuments(generator: SeededGenerator())
        var queries = RandomQueries(generator: SeededGenerator())
        let documents = random.documents(220)
        let oracle = QueryOracle(documents)
        let index = InMemoryIndex(documents, at: readTime)
        for _ in 0..<300 {
            var query = queries.query()
            query.vectorSearch = nil
            let aggregations = queries.aggregations()
            let normalized = try NormalizedAggregations(aggregations)
            let execution = try QueryExecution(
                NormalizedQuery(query, aggregating: normalized.fields),
                index,
                InMemoryDocuments(documents, at: readTime),
                maximumBytes: 16 << 20,
                mask: normalized.fields,
                maximumJoinBytes: maximumJoinBytes
            )
            let results = try execution.aggregate(normalized)
            let found = normalized.operations.map { results[$0.alias] ?? .null }
            let expected = oracle.aggregate(aggregations, of: query)
            guard zip(found, expected).allSatisfy(QueryOracle.isClose) else {
                Issue.record("\(aggregations) of \(query)\nfound \(found)\nexpected \(expected)\n\(Self.seed)")
                return
            }
        }
    }

    private func policies(_ generator: inout SeededGenerator) -> [CollectionID: IndexingPolicy] {
        var policies: [CollectionID: IndexingPolicy] = [:]
        for collection in Set(RandomDocuments.collections.map(\.id)) {
            var policy = IndexingPolicy()
            for _ in 0..<4 {
                let fields = RandomDocuments.fields.shuffled(using: &generator).prefix(Int.random(in: 2...3, using: &generator))
                let index = fields.map { IndexDefinition.Field($0, generator.chance(50) ? .ascending : .descending) }
                policy.composites.insert(index)
            }
            if generator.chance(50), let field = RandomDocuments.fields.randomElement(using: &generator) {
                policy.exempt.insert(field)
            }
            policies[collection] = policy
        }
        return policies
    }

    private func compare(
        _ index: InMemoryIndex,
        _ documents: InMemoryDocuments,
        _ oracle: QueryOracle,
        count: Int,
        mayReject: Bool = false
    ) throws {
        var queries = RandomQueries(generator: SeededGenerator())
        var foundSome = 0
        for _ in 0..<count {
            let query = queries.query()
            let execution: QueryExecution
            do throws(StatusError) {
                execution = try QueryExecution(NormalizedQuery(query), index, documents, maximumBytes: 16 << 20)
            } catch {
                if mayReject, error.code == .failedPrecondition { continue }
                throw error
            }
            let found = try execution.run()
            let expected = oracle.run(query)
            if !expected.isEmpty { foundSome += 1 }
            guard try QueryOracle.agrees(found, with: expected, of: query) else {
                Issue.record(
                    "\(query)\nfound \(found.map(\.path))\nexpected \(expected.map(\.path))\n\(execution.metrics)\n\(Self.seed)"
                )
                return
            }
        }
        #expect(foundSome > count / 10, Self.seed)
    }
}
