import DocumentModel
import DocumentStore
import Foundation
import QueryTestSupport
import TestSupport
import Testing

/// Compares what the store answers with what a look at all documents gives.
///
/// `HEARTH_QUERY_COUNT` sets how many queries each test asks, `HEARTH_TEST_SEED` which.
@Suite("Random queries of a store")
struct StoreQueryTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private static let count = ProcessInfo.processInfo.environment["HEARTH_QUERY_COUNT"].flatMap(Int.init)
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("give what looking at every document gives, in the same order and with the same fields")
    func agreeWithBruteForce() async throws {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(220)
        try await fixture.withStore { store in
            try await write(documents, to: store)
            try await compare(store, documents, readTime: nil, count: Self.count ?? 1_200)
        }
    }

    @Test("give at a time that has passed what there was, whatever was written since")
    func agreeInThePast() async throws {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(200)
        try await fixture.withStore { store in
            try await write(documents, to: store)
            let time = try #require(store.position.lastCommitTime)
            // Some are deleted, some changed, some new.
            let (deleted, kept) = (documents.prefix(40), documents.dropFirst(40))
            _ = try await store.commit(deleted.map { .delete($0.path) })
            try await write(kept.prefix(40).map { Document($0, random.fields()) }, to: store)
            try await write(
                random.documents(60).filter { document in !documents.contains { $0.path == document.path } },
                to: store
            )
            try await compare(store, documents, readTime: time, count: Self.count ?? 250)
        }
    }

    @Test("give the same whatever is indexed of several fields, and what isn't of one, also while that changes")
    func agreeWithDefinitions() async throws {
        var random = RandomDocuments(generator: SeededGenerator())
        var generator = SeededGenerator()
        let documents = random.documents(220)
        try await fixture.withStore { store in
            try await write(documents.map { Document($0, [:]) }, to: store)
            for round in 0..<6 {
                for change in try changes(&generator) { _ = try? await store.changeIndexes(change) }
                if round == 0 { try await write(documents, to: store) }
                try await compare(store, documents, readTime: nil, count: (Self.count ?? 900) / 6, mayRefuse: true)
            }
        }
        #expect(try await fixture.findings() == [], Self.seed)
    }

    @Test("give the same through an index of several fields that is made for the query")
    func agreeWithFittingIndexes() async throws {
        var random = RandomDocuments(generator: SeededGenerator())
        var queries = RandomQueries(generator: SeededGenerator())
        var generator = SeededGenerator()
        let documents = random.documents(220)
        let bruteForce = BruteForce(documents)
        try await fixture.withStore { store in
            try await write(documents, to: store)
            var usedCount = 0
            let count = Self.count ?? 150
            var asked = 0
            // About one of fifteen is, and of some seeds none for long.
            while asked < count || usedCount == 0 && asked < 20 * count {
                asked += 1
                let query = queries.query()
                guard let definition = try definition(for: query, &generator) else { continue }
                guard let made = try? await store.changeIndexes(.create(definition)) else { continue }
                try await store.waitUntilIndexed()
                let answer = try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: nil)
                if answer.work.plan.contains(where: { $0.contains("index of") }) { usedCount += 1 }
                let expected = bruteForce.run(query)
                guard try agree(answer.documents, expected, query) else {
                    Issue.record(
                        "\(query)\nby \(definition)\nfound \(answer.documents.map(\.path))\nexpected \(expected.map(\.path))\n\(answer.work)\n\(Self.seed)"
                    )
                    return
                }
                for index in made.indexes { _ = try await store.changeIndexes(.delete(id: index.id)) }
            }
            #expect(usedCount > 0, Self.seed)
        }
    }

    /// An index that a query may be answered by: fields of its filter, then those of its order, and perhaps one more.
    private func definition(for query: Query, _ generator: inout SeededGenerator) throws -> IndexDefinition? {
        guard let collection = query.source.collectionID else { return nil }
        let isReversed = generator.chance(50)
        var fields: [IndexDefinition.Field] = []
        for field in query.filter?.fields.shuffled(using: &generator).prefix(Int.random(in: 0...2, using: &generator)) ?? [] {
            fields.append(IndexDefinition.Field(field, generator.chance(50) ? .ascending : .descending))
        }
        for order in query.orders {
            guard case .field(let field) = order.key else { continue }
            fields.append(IndexDefinition.Field(field, (order.direction == .ascending) != isReversed ? .ascending : .descending))
        }
        if let field = RandomDocuments.fields.randomElement(using: &generator), fields.count < 2 || generator.chance(30) {
            fields.append(IndexDefinition.Field(field, generator.chance(50) ? .ascending : .descending))
        }
        var seen: Set<FieldPath> = [.documentName]
        let distinct = fields.filter { seen.insert($0.field).inserted }
        return distinct.count < 2 ? nil : try IndexDefinition(collection: collection, fields: distinct)
    }

    /// Some indexes and exemptions more, and some less.
    private func changes(_ generator: inout SeededGenerator) throws -> [IndexChange] {
        var changes: [IndexChange] = []
        for collection in Set(RandomDocuments.collections.map(\.id)) {
            for _ in 0..<4 {
                let fields = RandomDocuments.fields.shuffled(using: &generator).prefix(Int.random(in: 2...3, using: &generator))
                let definition = try IndexDefinition(
                    collection: collection,
                    fields: fields.map { IndexDefinition.Field($0, generator.chance(50) ? .ascending : .descending) }
                )
                changes.append(.create(definition))
            }
            guard let field = RandomDocuments.fields.randomElement(using: &generator) else { continue }
            let exemption = try IndexExemption(collection: collection, field: field)
            changes.append(generator.chance(50) ? .exempt(exemption) : .unexempt(exemption))
        }
        return changes
    }

    @Test("are aggregated to the same numbers")
    func aggregatesAgree() async throws {
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(220)
        try await fixture.withStore { store in
            try await write(documents, to: store)
            var random = RandomQueries(generator: SeededGenerator())
            let bruteForce = BruteForce(documents)
            for _ in 0..<(Self.count ?? 1_000) {
                var query = random.query()
                query.vectorSearch = nil
                let aggregations = random.aggregations()
                let normalized = try NormalizedAggregations(aggregations)
                let answer = try await store.aggregate(
                    NormalizedQuery(query, aggregating: normalized.fields),
                    normalized,
                    readTime: nil
                )
                let found = normalized.operations.map { answer.results[$0.alias] ?? .null }
                let expected = bruteForce.aggregate(aggregations, of: query)
                guard zip(found, expected).allSatisfy(isClose) else {
                    Issue.record(
                        "\(aggregations) of \(query)\nfound \(found)\nexpected \(expected)\n\(answer.work)\n\(Self.seed)"
                    )
                    return
                }
            }
        }
    }

    private func write(_ documents: [Document], to store: FileStore) async throws {
        for start in stride(from: 0, to: documents.count, by: 20) {
            let some = documents[start..<min(start + 20, documents.count)]
            _ = try await store.commit(some.map { Write(path: $0.path, operation: .replace($0.fields)) })
        }
    }

    private func compare(
        _ store: FileStore,
        _ documents: [Document],
        readTime: Timestamp?,
        count: Int,
        mayRefuse: Bool = false
    ) async throws {
        var random = RandomQueries(generator: SeededGenerator())
        let bruteForce = BruteForce(documents)
        var foundSome = 0
        for _ in 0..<count {
            let query = random.query()
            guard let answer = try await answer(query, store, readTime, mayRefuse: mayRefuse) else { continue }
            let expected = bruteForce.run(query)
            if !expected.isEmpty { foundSome += 1 }
            guard try agree(answer.documents, expected, query) else {
                Issue.record(
                    "\(query)\nfound \(answer.documents.map(\.path))\nexpected \(expected.map(\.path))\n\(answer.work)\n\(Self.seed)"
                )
                return
            }
        }
        #expect(foundSome > count / (mayRefuse ? 10 : 5), "\(Self.seed)")
    }

    /// What a store answers; nil when it refuses, and may.
    private func answer(
        _ query: Query,
        _ store: FileStore,
        _ readTime: Timestamp?,
        mayRefuse: Bool
    ) async throws -> QueryAnswer? {
        do {
            return try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: readTime)
        } catch {
            if mayRefuse, error.code == .failedPrecondition { return nil }
            throw error
        }
    }

    private func agree(_ found: [EncodedDocument], _ expected: [BruteForce.Found], _ query: Query) throws -> Bool {
        guard found.count == expected.count else { return false }
        let search = query.vectorSearch
        return try zip(found, expected).allSatisfy { found, expected in
            let fields = try found.decoded().fields
            // Documents at the same distance come in any order.
            if let search, found.path != expected.path {
                guard query.projection.isEmpty, let distance = search.distance(of: fields), let other = expected.distance else {
                    return true
                }
                return abs(distance - other) < 1e-9
            }
            return found.path == expected.path && isClose(.map(fields), .map(expected.fields))
        }
    }

    /// Whether two values are the same but for the last bits of doubles.
    private func isClose(_ found: Value, _ expected: Value) -> Bool {
        switch (found, expected) {
        case (.double(let found), .double(let expected)):
            found == expected || (found.isNaN && expected.isNaN)
                || abs(found - expected) <= 1e-9 * max(1, max(abs(found), abs(expected)))
        case (.map(let found), .map(let expected)):
            found.count == expected.count && zip(found, expected).allSatisfy { $0.key == $1.key && isClose($0.value, $1.value) }
        default: found == expected
        }
    }
}

extension Document {
    /// A document with other fields.
    fileprivate init(_ document: Document, _ fields: MapValue) {
        self = document
        self.fields = fields
    }
}

extension Query.Source {
    fileprivate var collectionID: CollectionID? {
        switch self {
        case .collection(let path): path.id
        case .collectionGroup(let id, _): id
        case .descendants: nil
        }
    }
}

extension Filter {
    /// The fields with a condition.
    fileprivate var fields: [FieldPath] {
        switch self {
        case .field(let field, _): [field]
        case .and(let filters), .or(let filters): filters.flatMap(\.fields)
        }
    }
}
