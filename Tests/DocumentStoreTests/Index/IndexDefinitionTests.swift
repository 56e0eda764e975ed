import DocumentModel
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import DocumentStore

@Suite("Indexes of several fields, and exempted ones")
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
        let filter = Filter.and([
            .field(try FieldPath("a"), .equal(.integer(1))), .field(try FieldPath("b"), .equal(.integer(1))),
        ])
        return try NormalizedQuery(
            Query(
                .collection(try CollectionPath("c")),
                where: filter,
                orders: [Query.Order(.field(try FieldPath("rank")), .descending)],
                limit: .first(limit)
            )
        )
    }

    /// Makes documents of which every fifth has `a`, and every seventh `b`, equal to 1.
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

    @Test("are made of documents in very many collections some hundred at a time, and told how many that are")
    func manyParents() async throws {
        try await fixture.withStore { store in
            let paths = try (0..<600).map { try DocumentPath("p/p\($0)/c/d") } + (0..<20).map { try DocumentPath("c/d\($0)") }
            _ = try await store.commit(paths.map { try Write.set($0, ["a": .integer(1), "rank": .integer(2)]) })
            try await store.waitUntilIndexed()
            let (steps, done, count) = try store.parts.index.applier.withLock { applier in
                try applier.write { database, memory in
                    var job = try IndexConforming(CollectionID("c"), &memory.numbers, database)
                    let writer = try IndexWriter(database)
                    var steps = 0
                    while try job.step(writer, &memory) { steps += 1 }
                    return (steps, job.documents, job.count)
                }
            }
            #expect(steps == 3)
            #expect(done == 620)
            #expect(count == 620)
            _ = try await store.changeIndexes(.create(definition("a", "rank")))
            #expect(await store.indexes().fields == .ready)
            try await store.waitUntilIndexed()
            let report = await store.indexes()
            #expect(report.changes.isEmpty)
            #expect(report.indexes.map(\.progress) == [.ready])
        }
        #expect(try await fixture.findings() == [])
    }

    @Test("One that fits a query makes it read its result alone, and is named by the plan")
    func walk() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            let before = try await store.run(query(), maximumBytes: 1 << 20, readTime: nil)
            let report = try await store.changeIndexes(.create(definition("b", "a", "-rank")))
            #expect(report.indexes.count == 1)
            try await store.waitUntilIndexed()
            #expect(await store.indexes().indexes.first?.progress == .ready)
            let answer = try await store.run(query(), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents == before.documents)
            #expect(answer.work.plan.first == "Run through the index of b, a, rank desc, in the order of the query")
            #expect(answer.work.documentsRead == 10 && answer.work.entriesScanned <= 12, "\(answer.work)")
            #expect(before.work.entriesScanned > 30, "\(before.work)")
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
        "A range of one of its fields ends where the range does, whatever field follows",
        arguments: [["a", "b"], ["-a", "b"], ["a", "-b"], ["-a", "-b"], ["b", "a", "rank"]]
    )
    func ranges(fields: [String]) async throws {
        let (a, b) = (try FieldPath("a"), try FieldPath("b"))
        let collection = Query.Source.collection(try CollectionPath("c"))
        let (zero, one) = (Value.integer(0), Value.integer(1))
        let up = [Query.Order(.field(a)), Query.Order(.field(b))]
        let down = [Query.Order(.field(a), .descending), Query.Order(.field(b), .descending)]
        let isOne = Filter.field(b, .equal(one))
        var queries: [Query] = []
        queries.append(Query(collection, where: .field(a, .lessOrEqual(one)), orders: up))
        queries.append(Query(collection, where: .field(a, .lessOrEqual(zero)), orders: up))
        queries.append(Query(collection, orders: up, end: Query.Cursor([one, zero], isInclusive: true)))
        queries.append(Query(collection, orders: up, end: Query.Cursor([one, one], isInclusive: false)))
        queries.append(Query(collection, orders: down, start: Query.Cursor([one], isInclusive: false)))
        queries.append(Query(collection, where: .and([isOne, .field(a, .in([zero, one]))])))
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

    @Test("One of equalities alone counts without looking at what has only one of them")
    func count() async throws {
        try await fixture.withStore { store in
            try await fill(store)
            _ = try await store.changeIndexes(.create(definition("a", "-b")))
            try await store.waitUntilIndexed()
            let filter = Filter.and([
                .field(try FieldPath("a"), .equal(.integer(1))), .field(try FieldPath("b"), .equal(.integer(1))),
            ])
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let answer = try await store.aggregate(
                NormalizedQuery(Query(.collection(CollectionPath("c")), where: filter)),
                count,
                readTime: nil
            )
            #expect(answer.results["n" as UTF8Key] == .integer(20))
            #expect(answer.work.entriesScanned == 20 && answer.work.documentsRead == 0, "\(answer.work)")
        }
    }

    @Test("One is kept by commits while it is made and after, goes when it is deleted, and outlives restarts and the index")
    func life() async throws {
        var id = ""
        try await fixture.withStore { store in
            try await fill(store)
            id = try #require(try await store.changeIndexes(.create(definition("a", "b", "-rank"))).indexes.first?.id)
            // While it is made, or before.
            try await fill(store, 650..<800)
            try await store.delete("c/d0")
        }
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let answer = try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.id.key.string) == stride(from: 770, to: 0, by: -35).map { "d\($0)" })
            #expect(answer.work.plan.first?.contains("a, b, rank desc") == true, "\(answer.work)")
        }
        #expect(try await fixture.findings() == [])
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            let answer = try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.work.documentsRead == 22, "\(answer.work)")
            let entries = try await store.entryCount()
            _ = try await store.changeIndexes(.delete(id: id))
            try await store.waitUntilIndexed()
            #expect(try await store.entryCount() == entries - 799)
            #expect(try await store.run(query(100), maximumBytes: 1 << 20, readTime: nil).documents == answer.documents)
        }
        #expect(try await fixture.findings() == [])
    }

    @Test("An exempted field has no entries, with all that is in it, and queries that need it say what to do")
    func exemption() async throws {
        let exemption = try IndexExemption(collection: CollectionID("c"), field: FieldPath("secret"))
        let collection = Query.Source.collection(try CollectionPath("c"))
        let inner = try FieldPath("secret.inner")
        let queries = try [
            Query(collection, where: .field(inner, .equal(.integer(3)))),
            Query(collection, where: .field(inner, .greater(.integer(3)))),
            Query(collection, orders: [Query.Order(.field(FieldPath("secret")))]),
            Query(
                collection,
                orders: [
                    Query.Order(.distance(of: FieldPath("secret.place"), from: GeoPoint(validatingLatitude: 0, longitude: 0)))
                ],
                limit: .first(1)
            ),
            Query(.collectionGroup(CollectionID("c"), below: nil), where: .field(inner, .in([.integer(3), .integer(4)]))),
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
            }
            #expect(try await store.run(query(), maximumBytes: 1 << 20, readTime: nil).documents.count == 10)
        }
        #expect(try await fixture.findings() == [])
        try await fixture.withStore { store in
            _ = try await store.changeIndexes(.create(definition("a", "secret.inner")))
            try await store.waitUntilIndexed()
            let covered = try NormalizedQuery(
                Query(collection, where: .and([.field(FieldPath("a"), .equal(.integer(1))), .field(inner, .less(.integer(30)))]))
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

    @Test("Definitions that can't be read are reported and left alone, and the rest works")
    func damaged() async throws {
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
    /// How many rows the entries of all fields have.
    fileprivate func entryCount() async throws -> Int {
        try await readIndex { snapshot throws(StatusError) in
            try snapshot.failing { () throws in
                let statement = try IndexStatement("SELECT count(*) FROM entries", snapshot.database)
                defer { statement.reset() }
                return try statement.step() ? Int(statement.integer(0)) : 0
            }
        }
    }
}
