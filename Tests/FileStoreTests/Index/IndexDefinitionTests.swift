import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import DocumentIndex
@testable import FileStore

@Suite("Composite indexes and exemptions")
struct IndexDefinitionTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func definition(_ fields: String...) throws -> IndexDefinition {
        try definition(fields)
    }

    private func definition(_ fields: [String]) throws -> IndexDefinition {
        try IndexDefinition(
            collection: CollectionID("c"),
            fields: fields.map { text in
                let isDescending = text.utf8.first == UInt8(ascii: "-")
                return IndexDefinition.Field(
                    try FieldPath(isDescending ? String(text.dropFirst()) : text),
                    isDescending ? .descending : .ascending
                )
            }
        )
    }

    private func query(_ limit: Int = 10) throws -> NormalizedQuery {
        let filter = QueryFilter.and([
            .field(try FieldPath("a"), .equal(.integer(1))), .field(try FieldPath("b"), .equal(.integer(1))),
        ])
        return try NormalizedQuery(
            StructuredQuery(
                .collection(try CollectionPath("c")),
                where: filter,
                orders: [StructuredQuery.Order(.field(try FieldPath("rank")), .descending)],
                limit: .first(limit)
            )
        )
    }

    /// Writes documents; `a` is 1 in every fifth and `b` in every seventh, otherwise 0.
    private func fill(_ store: FileStore, _ range: Range<Int> = 0..<700) async throws {
        let writes = try range.map { index in
            try Write.set(
                DocumentPath("c/d\(index)"),
                [
                    "a": .integer(index.isMultiple(of: 5) ? 1 : 0), "b": .integer(index.isMultiple(of: 7) ? 1 : 0),
                    "rank": .integer(Int64(index)),
                    "secret": .map([
                        "inner": .integer(Int64(index)), "place": .geoPoint(GeoPoint(validatingLatitude: 1, longitude: 2)),
                    ]),
                ]
            )
        }
        for start in stride(from: 0, to: writes.count, by: 100) {
            _ = try await store.commit(Array(writes[start..<min(start + 100, writes.count)]))
        }
    }

    @Test
    func `Composite indexes are backfilled in batches across many collections, with progress`() async throws {
        try await fixture.withStore { store in
            let paths = try (0..<600).map { try DocumentPath("p/p\($0)/c/d") } + (0..<20).map { try DocumentPath("c/d\($0)") }
            _ = try await store.commit(paths.map { try Write.set($0, ["a": .integer(1), "rank": .integer(2)]) })
            try await store.waitUntilIndexed()
            let (batches, processed, total) = try store.components.index.maintainer.withLock { maintainer in
                try maintainer.write { database, context in
                    var job = try IndexBackfill(CollectionID("c"), &context.catalog, database)
                    let writer = try IndexWriter(database)
                    var batches = 0
                    while try job.processBatch(writer, &context) { batches += 1 }
                    return (batches, job.processedCount, job.totalCount)
                }
            }
            #expect(batches == 3)
            #expect(processed == 620)
            #expect(total == 620)
            _ = try await store.changeIndexes(.create(definition("a", "rank")))
            #expect(await store.indexes().singleFields == .ready)
            try await store.waitUntilIndexed()
            let report = await store.indexes()
            #expect(report.backfills.isEmpty)
            #expect(report.indexes.map(\.buildState) == [.ready])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `A composite index that fits a query limits its reads to the result, and is shown in the plan`() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            let before = try await store.run(query(), maximumBytes: 1 << 20, readTime: nil)
            let report = try await store.changeIndexes(.create(definition("b", "a", "-rank")))
            #expect(report.indexes.count == 1)
            try await store.waitUntilIndexed()
            #expect(await store.indexes().indexes.first?.buildState == .ready)
            let answer = try await store.run(query(), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents == before.documents)
            #expect(answer.metrics.plan.first == "Scan composite index (b, a, rank desc) in query order")
            #expect(answer.metrics.documentsRead == 10 && answer.metrics.entriesScanned <= 12, "\(answer.metrics)")
            #expect(before.metrics.entriesScanned > 30, "\(before.metrics)")
        }
        #expect(try await fixture.findings() == [])
        let text = try fixture.folder.text(of: "data/indexes.json")
        #expect(text.contains(#""collection":"c","fields":[{"field":"b","direction":"asc"}"#))
    }

    private func fields(of index: Int) -> MapValue {
        var fields: MapValue = [:]
        fields["a"] = .integer(Int64(index % 3))
        fields["b"] = .integer(Int64(index / 3 % 2))
        fields["rank"] = .integer(Int64(index))
        return fields
    }

    @Test(
        arguments: [["a", "b"], ["-a", "b"], ["a", "-b"], ["-a", "-b"], ["b", "a", "rank"]]
    )
    func `A composite index respects range bounds on a field that is followed by others`(fields: [String]) async throws {
        let (a, b) = (try FieldPath("a"), try FieldPath("b"))
        let collection = StructuredQuery.Source.collection(try CollectionPath("c"))
        let (zero, one) = (Value.integer(0), Value.integer(1))
        let up = [StructuredQuery.Order(.field(a)), StructuredQuery.Order(.field(b))]
        let down = [StructuredQuery.Order(.field(a), .descending), StructuredQuery.Order(.field(b), .descending)]
        let isOne = QueryFilter.field(b, .equal(one))
        var queries: [StructuredQuery] = []
        queries.append(StructuredQuery(collection, where: .field(a, .lessOrEqual(one)), orders: up))
        queries.append(StructuredQuery(collection, where: .field(a, .lessOrEqual(zero)), orders: up))
        queries.append(StructuredQuery(collection, orders: up, end: StructuredQuery.Cursor([one, zero], isInclusive: true)))
        queries.append(StructuredQuery(collection, orders: up, end: StructuredQuery.Cursor([one, one], isInclusive: false)))
        queries.append(StructuredQuery(collection, orders: down, start: StructuredQuery.Cursor([one], isInclusive: false)))
        queries.append(StructuredQuery(collection, where: .and([isOne, .field(a, .in([zero, one]))])))
        try await fixture.withStore { store in
            let writes = try (0..<36).map { (index: Int) throws -> Write in
                try Write.set(
                    DocumentPath("c/d\(index)"),
                    self.fields(of: index)
                )
            }
            _ = try await store.commit(writes)
            func answers() async throws -> [[DocumentPath]] {
                var answers: [[DocumentPath]] = []
                for query in queries {
                    let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
                    answers.append(answer.documents.map(\.path))
                }
                return answers
            }
            let before = try await answers()
            #expect(before.map(\.count) == [24, 12, 18, 18, 12, 12])
            _ = try await store.changeIndexes(.create(definition(fields)))
            try await store.waitUntilIndexed()
            #expect(try await answers() == before)
        }
    }

    @Test
    func `A composite index of equality fields counts matches without reading other entries`() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            _ = try await store.changeIndexes(.create(definition("a", "-b")))
            try await store.waitUntilIndexed()
            let filter = QueryFilter.and([
                .field(try FieldPath("a"), .equal(.integer(1))), .field(try FieldPath("b"), .equal(.integer(1))),
            ])
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let answer = try await store.aggregate(
                NormalizedQuery(StructuredQuery(.collection(CollectionPath("c")), where: filter)),
                count,
                readTime: nil
            )
            #expect(answer.results["n" as UTF8Key] == .integer(20))
            #expect(answer.metrics.entriesScanned == 20 && answer.metrics.documentsRead == 0, "\(answer.metrics)")
        }
    }

    @Test
    func `A composite index follows commits during and after a backfill, survives restarts and rebuilds, and can be deleted`()
        async throws
    {
        var id = ""
        try await fixture.withStore { store in
            try await fill(store)
            id = try #require(try await store.changeIndexes(.create(definition("a", "b", "-rank"))).indexes.first?.id)
            // During the backfill, or before it.
            try await fill(store, 650..<800)
            try await store.delete("c/d0")
        }
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let answer = try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.id.key.string) == stride(from: 770, to: 0, by: -35).map { "d\($0)" })
            #expect(answer.metrics.plan.first?.contains("a, b, rank desc") == true, "\(answer.metrics)")
        }
        #expect(try await fixture.findings() == [])
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let answer = try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.metrics.documentsRead == 22, "\(answer.metrics)")
            let entries = try await store.entryCount()
            _ = try await store.changeIndexes(.delete(id: id))
            try await store.waitUntilIndexed()
            #expect(try await store.entryCount() == entries - 799)
            #expect(try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil).documents == answer.documents)
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `Exempted fields and their subfields have no entries, and queries that need them fail with advice`() async throws {
        let exemption = try IndexExemption(collection: CollectionID("c"), field: FieldPath("secret"))
        let collection = StructuredQuery.Source.collection(try CollectionPath("c"))
        let inner = try FieldPath("secret.inner")
        let queries = try [
            StructuredQuery(collection, where: .field(inner, .equal(.integer(3)))),
            StructuredQuery(collection, where: .field(inner, .greater(.integer(3)))),
            StructuredQuery(collection, orders: [StructuredQuery.Order(.field(FieldPath("secret")))]),
            StructuredQuery(
                collection,
                orders: [
                    StructuredQuery.Order(
                        .distance(of: FieldPath("secret.place"), from: GeoPoint(validatingLatitude: 0, longitude: 0))
                    )
                ],
                limit: .first(1)
            ),
            StructuredQuery(
                .collectionGroup(CollectionID("c"), below: nil),
                where: .field(inner, .in([.integer(3), .integer(4)]))
            ),
        ].map { try NormalizedQuery($0) }
        try await fixture.withStore { store in
            try await fill(store)
            try await store.waitUntilIndexed()
            let entries = try await store.entryCount()
            _ = try await store.changeIndexes(.exempt(exemption))
            await expectStatus(.alreadyExists) { try await store.changeIndexes(.exempt(exemption)) }
            try await store.waitUntilIndexed()
            try await fill(store, 0..<50)
            #expect(try await store.entryCount() == entries - 3 * 700)
            for query in queries {
                let error = await expectStatus(.failedPrecondition) {
                    try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                }
                #expect(error?.message.contains("secret") == true && error?.message.contains("indexes.create") == true)
                #expect(error?.field?.hasPrefix("secret") == true)
            }
            #expect(try await store.run(query(), maximumBytes: 1 << 20, readTime: nil).documents.count == 10)
        }
        #expect(try await fixture.findings() == [])
        try await fixture.withStore { store in
            _ = try await store.changeIndexes(.create(definition("a", "secret.inner")))
            try await store.waitUntilIndexed()
            let covered = try NormalizedQuery(
                StructuredQuery(
                    collection,
                    where: .and([.field(FieldPath("a"), .equal(.integer(1))), .field(inner, .less(.integer(30)))])
                )
            )
            #expect(try await store.run(covered, maximumBytes: 1 << 20, readTime: nil).documents.count == 6)
            _ = try await store.changeIndexes(.unexempt(exemption))
            await expectStatus(.notFound) { try await store.changeIndexes(.unexempt(exemption)) }
            try await store.waitUntilIndexed()
            let counts = [1, 696, 700, 1, 2]
            for (query, count) in zip(queries, counts) {
                #expect(try await store.run(query, maximumBytes: 1 << 20, readTime: nil).documents.count == count)
            }
        }
        #expect(try await fixture.findings() == [])
    }

    @Test
    func `Definitions that cannot be read are logged and not overwritten, and queries still work`() async throws {
        try await fixture.withStore { store in try await fill(store, 0..<100) }
        try fixture.folder.write("{", to: "data/indexes.json")
        let log = WarningLog()
        try await fixture.withStore(logger: log.logger) { store in
            #expect(log.warnings.count == 1)
            let error = await expectStatus(.dataLoss) { try await store.changeIndexes(.create(definition("a", "b"))) }
            #expect(error?.file?.path == "indexes.json")
            let answer = try await store.run(query(), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.count == 3)
        }
        #expect(try fixture.folder.text(of: "data/indexes.json") == "{")
    }
}

extension FileStore {
    /// Returns the number of rows in the table of entries.
    fileprivate func entryCount() async throws -> Int {
        try await readIndex { snapshot throws(StatusError) in
            try snapshot.withStatusErrors { () throws in
                let statement = try IndexStatement("SELECT count(*) FROM entries", snapshot.database)
                defer { statement.reset() }
                return try statement.step() ? Int(statement.integer(0)) : 0
            }
        }
    }
}
