import DocumentModel
import DocumentStore
import FileStore
import TestSupport
import Testing
import UTF8Text

@Suite("Queries during concurrent commits", .tags(.slow))
struct QueryConsistencyTests {
    private let fixture: StoreFixture
    private static let count = 12

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Queries return each commit as a whole, and all acknowledged commits`() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 0..<3 { group.addTask { try await move(100, seed, in: store) } }
                group.addTask {
                    for source in Self.sources { try await check(source, in: store) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Checks that the sum over all documents is constant.
    private func check(_ source: StructuredQuery.Source, in store: FileStore) async throws {
        let sum = try NormalizedAggregations([
            Aggregation(.sum(Self.n), alias: "sum"), Aggregation(.count(upTo: nil), alias: "count"),
        ])
        let orders = [[], [StructuredQuery.Order(.field(Self.n), .descending)], [StructuredQuery.Order(.field(Self.kind))]]
        for round in 0..<16 {
            var query = StructuredQuery(source, orders: orders[round % orders.count])
            if round.isMultiple(of: 2) { query.filter = .field(Self.kind, .in([.string("even"), .string("odd")])) }
            let before = store.position.lastCommitTime
            let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.readTime >= before ?? .minimum)
            let numbers = try answer.documents.map { try $0.decoded().fields["n" as UTF8Key] }
            let total = numbers.reduce(Int64(0)) { if case .integer(let number)? = $1 { $0 + number } else { $0 } }
            #expect(total == 100 * Int64(Self.count), "\(answer.metrics)")
            #expect(answer.documents.allSatisfy { $0.updateTime <= answer.readTime })
            let again = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: answer.readTime)
            #expect(again.documents == answer.documents)
            let sums = try await store.aggregate(
                NormalizedQuery(StructuredQuery(source), aggregating: sum.fields),
                sum,
                readTime: nil
            )
            #expect(sums.results["sum" as UTF8Key] == .integer(100 * Int64(Self.count)))
        }
    }

    @Test
    func `Pages with the same read time return every document once`() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            let collection = Self.sources[0]
            var query = StructuredQuery(collection, orders: [StructuredQuery.Order(.field(Self.n))])
            let all = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            query.limit = .first(5)
            var paths: [DocumentPath] = []
            while true {
                let page = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: all.readTime)
                paths += page.documents.map(\.path)
                guard let last = page.documents.last else { break }
                let n = try #require(try last.decoded().fields["n" as UTF8Key])
                query.start = StructuredQuery.Cursor([n, .reference(last.path)], isInclusive: false)
                try await move(8, paths.count, in: store)
                try await store.delete("c/d\(paths.count)")
            }
            #expect(paths == all.documents.map(\.path))
        }
    }

    private static let sources: [StructuredQuery.Source] = {
        guard let path = try? CollectionPath("c") else { preconditionFailure("a valid literal") }
        return [.collection(path), .collectionGroup(path.id, below: nil), .descendants(of: nil)]
    }()
    private static let n = field("n")
    private static let kind = field("kind")

    private static func field(_ text: String) -> FieldPath {
        guard let field = try? FieldPath(text) else { preconditionFailure("a valid literal") }
        return field
    }

    private func fill(_ store: FileStore) async throws {
        for index in 0..<Self.count {
            try await store.set("c/d\(index)", ["n": .integer(100), "kind": .string(index.isMultiple(of: 2) ? "even" : "odd")])
        }
    }

    /// Repeatedly moves an amount from one document to another, and sometimes replaces all documents.
    private func move(_ count: Int, _ seed: Int, in store: FileStore) async throws {
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ UInt64(seed))
        for step in 0..<count {
            let (from, to) = (
                Int.random(in: 0..<Self.count, using: &generator), Int.random(in: 0..<Self.count, using: &generator)
            )
            guard from != to else { continue }
            let writes = try [(from, -1), (to, 1)].map { index, number in
                let transform = FieldTransform(field: Self.n, operation: .increment(.integer(Int64(number))))
                return try Write.set(DocumentPath("c/d\(index)"), [:], merge: .all, transforms: [transform])
            }
            _ = try await store.commit(writes)
            if (step + seed).isMultiple(of: 5) {
                // Deletes and recreates all documents in one commit.
                try await store.replaceWhole(Self.count)
            }
        }
    }
}

extension FileStore {
    fileprivate func replaceWhole(_ count: Int) async throws {
        let writes: [Write] = try (0..<count).flatMap { index -> [Write] in
            let path = try DocumentPath("c/d\(index)")
            return [
                .delete(path),
                try .set(path, ["n": .integer(100), "kind": .string(index.isMultiple(of: 2) ? "even" : "odd")]),
            ]
        }
        _ = try await commit(writes)
    }
}
