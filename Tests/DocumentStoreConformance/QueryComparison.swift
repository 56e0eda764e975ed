package import DocumentModel
package import DocumentStore
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing

/// Compares the results of random queries with those of the reference implementation.
package struct QueryComparison {
    private let store: any DocumentStore
    private let documents: [Document]
    static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    /// Creates a comparison of a store with the documents that it has.
    package init(store: any DocumentStore, documents: [Document]) {
        self.store = store
        self.documents = documents
    }

    /// Runs queries, and records an issue for the first one with another result.
    ///
    /// - Parameter mayReject: True when queries may be rejected because a field that they need is exempted from indexing.
    package func compareQueries(_ count: Int, readTime: Timestamp? = nil, mayReject: Bool = false) async throws {
        var random = RandomQueries(generator: SeededGenerator())
        let oracle = QueryOracle(documents)
        for _ in 0..<count {
            let query = random.query()
            guard let results = try await run(query, readTime: readTime, mayReject: mayReject) else { continue }
            let expected = oracle.run(query)
            guard try QueryOracle.agrees(results.documents, with: expected, of: query) else {
                Issue.record(
                    "\(query)\nfound \(results.documents.map(\.path))\nexpected \(expected.map(\.path))\n\(results.metrics)\n\(Self.seed)"
                )
                return
            }
        }
    }

    /// Returns the results of a query; `nil` if it is rejected and may be.
    private func run(_ query: StructuredQuery, readTime: Timestamp?, mayReject: Bool) async throws -> QueryResults? {
        do throws(StatusError) {
            return try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: readTime)
        } catch {
            guard mayReject, error.code == .failedPrecondition else { throw error }
            return nil
        }
    }

    /// Runs aggregations, and records an issue for the first one with another result.
    package func compareAggregations(_ count: Int, readTime: Timestamp? = nil) async throws {
        var random = RandomQueries(generator: SeededGenerator())
        let oracle = QueryOracle(documents)
        for _ in 0..<count {
            var query = random.query()
            query.vectorSearch = nil
            let aggregations = random.aggregations()
            let normalized = try NormalizedAggregations(aggregations)
            let normalizedQuery = try NormalizedQuery(query, aggregating: normalized.fields)
            let results = try await store.aggregate(normalizedQuery, normalized, readTime: readTime)
            let found = normalized.operations.map { results.results[$0.alias] ?? .null }
            let expected = oracle.aggregate(aggregations, of: query)
            guard zip(found, expected).allSatisfy(QueryOracle.isClose) else {
                Issue.record(
                    "\(aggregations) of \(query)\nfound \(found)\nexpected \(expected)\n\(results.metrics)\n\(Self.seed)"
                )
                return
            }
        }
    }
}
