import DocumentModel
import DocumentStore
import GRDB
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

/// Compares vector searches in the index with a search of all documents.
///
/// `HEARTH_TEST_SEED` sets the seed.
@Suite("Vector searches", .tags(.slow))
struct VectorQueryTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private static let field = "m.v"
    private static let collections = ["c", "u/1/c", "u/2/c", "u/1/x/a/c", "d"]
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// The documents that the store should have.
    private struct Model {
        var documents: [DocumentPath: MapValue] = [:]
        var generator = SeededGenerator()

        mutating func vector(_ count: Int? = nil) -> [Double] {
            let count: Int = count ?? (generator.chance(90) ? 24 : [0, 1, 23, 25].randomElement(using: &generator) ?? 0)
            let scale: Double =
                generator.chance(90) ? 1 : [1e-300, 1e-42, 1e-20, 1e20, 1e200].randomElement(using: &generator) ?? 1
            let kind = Int.random(in: 0..<5, using: &generator)
            let special: [Double] = [.nan, .infinity, -.infinity]
            return (0..<count).map { _ -> Double in
                switch kind {
                // Few values, so that there are duplicates and equal distances.
                case 0, 1: return Double(Int.random(in: 0...1, using: &generator)) * scale
                case 2: return Double(Float.random(in: -1...1, using: &generator)) * scale
                case 3: return generator.chance(3) ? special[Int.random(in: special.indices, using: &generator)] : scale
                default: return Double.random(in: -1...1, using: &generator) * scale
                }
            }
        }

        mutating func fields() -> MapValue {
            var fields: MapValue = [
                "k": .integer(Int64.random(in: 0...3, using: &generator)),
                "n": .integer(Int64.random(in: 0...40, using: &generator)),
                "tags": .array([.string(["a", "b", "c"].randomElement(using: &generator) ?? "")]),
            ]
            if generator.chance(93) { fields["m"] = .map(["v": generator.chance(95) ? .vector(vector()) : .null]) }
            return fields
        }

        /// Returns writes that add, change and remove documents.
        mutating func writes(_ count: Int) throws -> [Write] {
            var writes: [DocumentPath: Write] = [:]
            for _ in 0..<count {
                let collection = try CollectionPath(VectorQueryTests.collections.randomElement(using: &generator) ?? "c")
                let path = collection.document(try DocumentPath.ID("d\(Int.random(in: 0..<150, using: &generator))"))
                guard writes[path] == nil else { continue }
                if documents[path] != nil, generator.chance(30) {
                    writes[path] = Write(path: path, operation: .delete)
                    documents[path] = nil
                } else {
                    let fields = fields()
                    writes[path] = Write(path: path, operation: .replace(fields))
                    documents[path] = fields
                }
            }
            return Array(writes.values)
        }

        mutating func query() throws -> StructuredQuery {
            let sources: [StructuredQuery.Source] = [
                .collection(try CollectionPath("c")), .collection(try CollectionPath("u/1/c")),
                .collectionGroup(try CollectionID("c"), below: nil),
                .collectionGroup(try CollectionID("c"), below: try DocumentPath("u/1")),
            ]
            var query = StructuredQuery(sources.randomElement(using: &generator) ?? sources[0])
            var search = VectorSearch(
                field: try FieldPath(VectorQueryTests.field),
                vector: vector(24).map { $0.isFinite ? $0 : 1 },
                measure: VectorSearch.Measure.allCases.randomElement(using: &generator) ?? .cosine,
                limit: generator.chance(80) ? Int.random(in: 1...12, using: &generator) : 400,
                distanceField: try FieldPath("distance")
            )
            if generator.chance(25) { search.threshold = Double.random(in: -1...5, using: &generator) }
            query.vectorSearch = search
            let k = QueryFilter.field(try FieldPath("k"), .equal(.integer(Int64.random(in: 0...4, using: &generator))))
            let tag = QueryFilter.field(try FieldPath("tags"), .arrayContains(.string("a")))
            let n = QueryFilter.field(try FieldPath("n"), .greater(.integer(Int64.random(in: 0...40, using: &generator))))
            let some = QueryFilter.field(try FieldPath("k"), .in([.integer(1), .integer(2)]))
            let filters: [QueryFilter?] = [
                nil, nil, nil, k, tag, some, .and([k, tag]), .or([k, tag]), n, .and([k, n]), .or([k, n]),
            ]
            query.filter = filters.randomElement(using: &generator) ?? nil
            return query
        }

        /// Returns the paths and distances of the nearest documents.
        func nearest(_ query: StructuredQuery) throws -> [(path: DocumentPath, distance: Double)] {
            let normalized = try NormalizedQuery(query)
            guard let search = query.vectorSearch else { return [] }
            var found: [(path: DocumentPath, distance: Double, key: NormalizedQuery.SortKey)] = []
            for (path, fields) in documents where query.source.contains(path) {
                guard let key = normalized.match(fields, at: path), let distance = search.distance(of: fields) else { continue }
                found.append((path, distance, key))
            }
            found.sort { left, right in
                left.distance == right.distance
                    ? normalized.compare(left.key, right.key) == .less
                    : search.measure.isCloser(left.distance, than: right.distance)
            }
            return found.prefix(search.limit).map { ($0.path, $0.distance) }
        }
    }

    /// Compares random searches; returns the plans.
    private func compare(
        _ store: FileStore,
        _ model: inout Model,
        count: Int,
        readTime: Timestamp? = nil
    ) async throws -> [[String]] {
        var plans: [[String]] = []
        for _ in 0..<count {
            let query = try model.query()
            let answer = try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: readTime)
            let expected = try model.nearest(query)
            #expect(answer.documents.map(\.path) == expected.map(\.path), "\(query)\n\(answer.metrics)\n\(Self.seed)")
            for (document, expected) in zip(answer.documents, expected) {
                let distance = try document.decoded().fields["distance" as UTF8Key]
                #expect(distance == .double(expected.distance), "\(query)\n\(answer.metrics)\n\(Self.seed)")
            }
            plans.append(answer.metrics.plan)
        }
        return plans
    }

    @Test
    func `Searches equal those of all documents, after changes, restarts and rebuilds`() async throws {
        var model = Model()
        for round in 0..<4 {
            try await fixture.withStore { store in
                for _ in 0..<2 {
                    _ = try await store.commit(model.writes(round == 0 ? 400 : 150))
                    let plans = try await compare(store, &model, count: 60).joined()
                    for line in ["Scan vectors: m.v", "Look up the vector of each document: m.v", "Sort the results"] {
                        #expect(plans.contains { $0.utf8.starts(with: line.utf8) }, "\(line) \(Self.seed)")
                    }
                }
            }
            #expect(try await fixture.findings() == [], Self.seed)
            if round == 1 { try fixture.folder.remove("data/index.sqlite") }
        }
    }

    @Test
    func `Searches as of a past time equal those of the documents at that time`() async throws {
        var model = Model()
        try await fixture.withStore { store in
            _ = try await store.commit(model.writes(400))
            let time = try #require(store.position.lastCommitTime)
            var past = model
            _ = try await store.commit(model.writes(200))
            _ = try await compare(store, &past, count: 60, readTime: time)
            _ = try await compare(store, &model, count: 20)
        }
    }

    @Test
    func `Searches skip documents that were edited, removed or damaged by hand, and find the next ones`() async throws {
        try await fixture.withStore { store in
            for start in stride(from: 0, to: 4_000, by: 500) {
                _ = try await store.commit(
                    (start..<start + 500).map { index in
                        try .create(DocumentPath("c/d\(10_000 + index)"), ["v": .vector([Double(index), 0.1])])
                    }
                )
            }
            try await store.waitUntilIndexed()
            let query = try Self.nearest([0, 0], limit: 5)
            for (removed, expectedPlan) in [(0, "Scan vectors"), (3, "Scan vectors"), (60, "Scan vectors"), (500, "Switch plan")]
            {
                let names = try Set(fixture.folder.names(in: "data/documents/c"))
                for index in 0..<removed {
                    guard names.contains("d\(10_000 + index).json") else { continue }
                    let file = "data/documents/c/d\(10_000 + index).json"
                    switch index % 3 {
                    case 0: try fixture.folder.remove(file)
                    case 1: try fixture.folder.write(fixture.folder.text(of: file).replacing("0.1", with: "1e9"), to: file)
                    default: try fixture.folder.write("{", to: file)
                    }
                }
                let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                let expected = (removed..<removed + 5).map { "c/d\(10_000 + $0)" }
                #expect(answer.documents.map(\.path.string) == expected, "\(answer.metrics)")
                #expect(answer.metrics.plan.contains { $0.contains(expectedPlan) }, "\(answer.metrics)")
            }
        }
    }

    @Test
    func `A search reads only the nearest documents, also among equal ones`() async throws {
        try await fixture.withStore { store in
            for start in stride(from: 0, to: 6_000, by: 500) {
                _ = try await store.commit(
                    (start..<start + 500).map { index in
                        let isEqual = index < 3_000
                        let vector = isEqual ? [0.5, 0.25] : [1 + Double(index) / 7, 3]
                        return try .create(
                            DocumentPath("c/d\(10_000 + index)"),
                            ["v": .vector(vector), "even": .boolean(index.isMultiple(of: 2)), "rare": .boolean(index == 4_711)]
                        )
                    }
                )
            }
            let all = try await store.run(Self.nearest([0.5, 0.25], limit: 7), maximumBytes: 1 << 20, readTime: nil)
            #expect(all.documents.map(\.path.string) == (0..<7).map { "c/d\(10_000 + $0)" })
            #expect(all.metrics.documentsRead == 7, "\(all.metrics)")
            #expect(all.metrics.entriesScanned == 6_000, "\(all.metrics)")
            #expect(
                all.metrics.plan == [
                    "Scan vectors: v", "Read the documents that may be among the nearest 7, and sort them by distance",
                ]
            )
            let even = try await store.run(Self.nearest([0, 0], limit: 4, where: "even"), maximumBytes: 1 << 20, readTime: nil)
            #expect(even.documents.map(\.path.string) == [0, 2, 4, 6].map { "c/d\(10_000 + $0)" })
            #expect(even.metrics.documentsRead == 4, "\(even.metrics)")
            #expect(even.metrics.plan.first == "Scan vectors: v; probe for each document: even ==", "\(even.metrics)")
            var either = StructuredQuery(.collection(try CollectionPath("c")))
            either.filter = .or(
                try ["even", "odd"].map { name in .field(try FieldPath(name), .equal(.boolean(true))) }
                    + [.field(try FieldPath("rare"), .equal(.boolean(true)))]
            )
            either.vectorSearch = VectorSearch(field: try FieldPath("v"), vector: [0, 0], measure: .euclidean, limit: 2)
            let union = try await store.run(NormalizedQuery(either), maximumBytes: 1 << 20, readTime: nil)
            #expect(union.documents.map(\.path.string) == ["c/d10000", "c/d10002"], "\(union.metrics)")
            #expect(union.metrics.plan.first == "Scan vectors: v, with index probes of the filter", "\(union.metrics)")
            let rare = try await store.run(Self.nearest([0, 0], limit: 4, where: "rare"), maximumBytes: 1 << 20, readTime: nil)
            #expect(rare.documents.map(\.path.string) == ["c/d14711"])
            #expect(rare.metrics.entriesScanned < 100 && rare.metrics.documentsRead == 1, "\(rare.metrics)")
            // The components are rounded in the index, so that equal vectors must be read.
            let rounded = try await store.run(Self.nearest([2_000, 3], limit: 3), maximumBytes: 1 << 20, readTime: nil)
            #expect(rounded.documents.count == 3 && rounded.metrics.documentsRead <= 6, "\(rounded.metrics)")
        }
    }

    @Test
    func `A search with an exempted field is refused, and works again without reading documents`() async throws {
        try await fixture.withStore { store in
            let exemption = try IndexExemption(collection: CollectionID("c"), field: FieldPath("v"))
            try await store.set("c/a", ["v": .vector([1, 2])])
            _ = try await store.changeIndexes(.exempt(exemption))
            try await store.set("c/b", ["v": .vector([1, 3])])
            let query = try Self.nearest([1, 3], limit: 1)
            await expectStatus(.failedPrecondition) { try await store.run(query, maximumBytes: 1 << 20, readTime: nil) }
            _ = try await store.changeIndexes(.unexempt(exemption))
            try await store.waitUntilIndexed()
            let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.string) == ["c/b"])
            #expect(answer.metrics.documentsRead == 1, "\(answer.metrics)")
        }
        #expect(try await fixture.findings() == [])
    }

    @Test(
        .timeLimit(.minutes(10))
    )
    func `A search ends when its task is cancelled`() async throws {
        try await fixture.withStore { store in
            for start in 0..<8 {
                _ = try await store.commit(
                    (0..<400).map { index in
                        try .create(DocumentPath("c/\(start)-\(index)"), ["v": .vector([Double](repeating: 1e39, count: 64))])
                    }
                )
            }
            try await store.waitUntilIndexed()
            // Every document must be read, since none has a vector in single precision.
            let query = try Self.nearest([Double](repeating: 1, count: 64), limit: 1_000)
            let task = Task { try await store.run(query, maximumBytes: 64 << 20, readTime: nil) }
            task.cancel()
            await expectStatus(.cancelled) { try await task.value }
            let answer = try await store.run(query, maximumBytes: 64 << 20, readTime: nil)
            #expect(answer.documents.count == 1_000 && answer.metrics.documentsRead == 3_200, "\(answer.metrics)")
        }
    }

    @Test(
        arguments: [
            "UPDATE vectors SET vector = zeroblob(8) WHERE id = (SELECT min(id) FROM vectors)",
            "UPDATE vectors SET isExact = 1 - isExact WHERE id = (SELECT min(id) FROM vectors)",
            "UPDATE vectors SET name = x'00' WHERE id = (SELECT min(id) FROM vectors)",
            "DELETE FROM vectors WHERE id = (SELECT max(id) FROM vectors)",
            "INSERT INTO vectors SELECT max(id) + 7, name, isExact, vector FROM vectors",
        ]
    )
    func `A check finds vectors that differ from the documents, and a repair restores them`(change: String) async throws {
        try await fixture.withStore { store in
            for index in 0..<5 { try await store.set("c/d\(index)", ["v": .vector([Double(index), 0.1])]) }
            try await store.set("u/1/c/a", ["v": .vector([7, 0.5])])
            try await store.waitUntilIndexed()
        }
        let index = try DatabaseQueue(path: fixture.folder["data/index.sqlite"])
        try await index.write { try $0.execute(sql: change) }
        try index.close()
        let kinds = try await fixture.findings().map(\.kind)
        #expect(kinds == [.outdatedIndex] || kinds == [.damagedIndex])
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            let answer = try await store.run(Self.nearest([3, 0.1], limit: 2), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.string) == ["c/d3", "c/d2"])
        }
        #expect(try await fixture.findings() == [])
    }

    private static func nearest(_ vector: [Double], limit: Int, where flag: String? = nil) throws -> NormalizedQuery {
        var query = StructuredQuery(.collection(try CollectionPath("c")))
        query.filter = try flag.map { .field(try FieldPath($0), .equal(.boolean(true))) }
        query.vectorSearch = VectorSearch(field: try FieldPath("v"), vector: vector, measure: .euclidean, limit: limit)
        return try NormalizedQuery(query)
    }
}
