import DocumentModel
import DocumentStore
import DocumentStoreConformance
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("The index in the engine", EngineServer.condition)
struct EngineIndexTests {
    private let collection: CollectionPath

    init() throws {
        collection = try CollectionPath("c")
    }

    private func write(_ documents: [Document], to store: some DocumentStore) async throws {
        for start in stride(from: 0, to: documents.count, by: 500) {
            let batch = documents[start..<min(start + 500, documents.count)]
            _ = try await store.commit(batch.map { try .set($0.path, $0.fields) })
        }
    }

    private func openHosts(_ configuration: PostgresConfiguration) async throws -> [PostgresHost] {
        [
            try await PostgresHost.open(configuration, logger: .silent),
            try await PostgresHost.open(configuration, logger: .silent),
        ]
    }

    private func run(_ query: StructuredQuery, on store: some DocumentStore) async throws -> QueryResults {
        try await store.run(NormalizedQuery(query), maximumBytes: 16 << 20, readTime: nil)
    }

    @Test
    func `A query of 10,000 documents reads about as many entries as it has results`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        let (group, number, tags, place) = try (
            FieldPath("group"), FieldPath("number"), FieldPath("tags"), FieldPath("place")
        )
        var documents: [Document] = []
        for index in 0..<10_000 {
            let fields: MapValue = [
                "group": .integer(Int64(index % 1_000)), "number": .integer(Int64(index)), "half": .integer(Int64(index % 2)),
                "tags": .array([.string("t\(index % 500)"), .string("x")]),
                "place": .geoPoint(
                    try GeoPoint(validatingLatitude: 0.5 * Double(index % 100), longitude: 0.5 * Double(index / 100))
                ),
            ]
            let path = collection.document(try DocumentPath.ID("d\(index)"))
            documents.append(Document(path: path, fields: fields, createTime: .minimum, updateTime: .minimum))
        }
        try await write(documents, to: store)
        let source = StructuredQuery.Source.collection(collection)
        let inGroup = QueryFilter.field(group, .equal(.integer(7)))
        let half = QueryFilter.field(try FieldPath("half"), .equal(.integer(1)))
        let descending = StructuredQuery.Order(.field(number), .descending)
        var nearest = StructuredQuery(
            source,
            orders: [StructuredQuery.Order(.distance(of: place, from: try GeoPoint(validatingLatitude: 10, longitude: 10)))]
        )
        nearest.limit = .first(5)
        var last = StructuredQuery(source, orders: [descending])
        last.limit = .first(5)
        for (query, resultCount, maximum) in [
            (StructuredQuery(source, where: inGroup), 10, 11),
            // Half of the documents have the other value, which is read at the names of the first one's only.
            (StructuredQuery(source, where: .and([inGroup, half])), 10, 200),
            (StructuredQuery(source, where: .field(tags, .arrayContains(.string("t3")))), 20, 21),
            (StructuredQuery(source, where: .field(group, .in([.integer(1), .integer(2)]))), 20, 22),
            (StructuredQuery(source, where: .or([inGroup, .field(tags, .arrayContains(.string("t4")))])), 30, 32),
            (StructuredQuery(source, where: .field(number, .greaterOrEqual(.integer(9_990)))), 10, 60),
            (StructuredQuery(.collectionGroup(collection.id, below: nil), where: inGroup), 10, 11),
            (last, 5, 30), (nearest, 5, 120),
        ] {
            let results = try await run(query, on: store)
            #expect(results.documents.count == resultCount, "\(query)")
            #expect(results.metrics.entriesScanned <= maximum, "\(query) \(results.metrics)")
            #expect(results.metrics.documentsRead <= 2 * resultCount + 100, "\(query) \(results.metrics)")
        }
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil)), Aggregation(.sum(number), alias: "sum")])
        let query = try NormalizedQuery(StructuredQuery(source, where: inGroup), aggregating: [number])
        let results = try await store.aggregate(query, count, readTime: nil)
        #expect(results.results["sum" as UTF8Key] == .integer((0..<10).reduce(0) { $0 + 1_000 * $1 + 7 }))
        await host.close()
        // The plans of the engine read ranges of its index only.
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let statistics = try connection.execute(
            EngineStatement("SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relname IN ('entries', 'documents')")
        )
        #expect(statistics.integer(0, 0) == 0)
    }

    @Test
    func `Queries return the same as the reference, now and as of a time, while documents change`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        var random = RandomDocuments(generator: SeededGenerator())
        let documents = random.documents(220)
        try await write(documents.map { Document($0, random.fields()) }, to: store)
        try await write(documents, to: store)
        let comparison = QueryComparison(store: store, documents: documents)
        try await comparison.compareQueries(200)
        try await comparison.compareAggregations(60)
        let time = try #require(try await store.safePosition().lastCommitTime)
        let (deleted, kept) = (documents.prefix(40), documents.dropFirst(40))
        _ = try await store.commit(deleted.map { .delete($0.path) })
        try await write(kept.prefix(40).map { Document($0, random.fields()) }, to: store)
        let added = random.documents(60).filter { document in !documents.contains { $0.path == document.path } }
        try await write(added, to: store)
        try await comparison.compareQueries(150, readTime: time)
        try await comparison.compareAggregations(40, readTime: time)
        try server.expectConsistentEntries(configuration)
        await host.close()
    }

    @Test
    func `Thousands of entries of a document with a long name are written in small steps`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let path = try DocumentPath("a/b/c/" + String(repeating: "n", count: 1_400))
        let values = (0..<20_000).map { Value.string(String($0, radix: 36)) }
        for (valueCount, stepCount) in [(20_000, 2), (5_000, 1)] {
            let fields: MapValue = ["v": .array(Array(values.suffix(valueCount)))]
            var changes = EntryChanges(1, IndexProgress(), FieldIDs(seed: DatabaseRow.makeSeed()))
            changes.replace(nil, with: fields, at: path, collection: 1, group: 2)
            #expect(changes.statements.allSatisfy { $0.byteCount < 3 << 20 })
            #expect(Array(changes.statements).count == stepCount)
            _ = try await host.store.commit([.set(path, fields)])
            try server.expectConsistentEntries(configuration)
        }
        await host.close()
    }

    @Test
    func `Values that exceed a message are refused, and the connection goes on`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        // 3 GiB, of which there is one mebibyte in memory.
        let values = [[UInt8]?](repeating: [UInt8](repeating: 0, count: 1 << 20), count: 3 << 10)
        let error = #expect(throws: StatusError.self) {
            try connection.execute(EngineStatement("SELECT count(*) FROM unnest($1::bytea[])", .byteStrings(values)))
        }
        #expect(error?.code == .invalidArgument)
        #expect(try connection.execute(EngineStatement("SELECT 1::bigint")).integer(0, 0) == 1)
    }

    @Test
    func `Queries return the same through composite indexes and exemptions, and entries follow these`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let hosts = try await openHosts(configuration)
        let store = hosts[0].store
        var random = RandomDocuments(generator: SeededGenerator())
        var generator = SeededGenerator()
        let documents = random.documents(220)
        try await write(documents.map { Document($0, [:]) }, to: store)
        for round in 0..<3 {
            for collection in Set(RandomDocuments.collections.map(\.id)) {
                for _ in 0..<3 {
                    let count = Int.random(in: 2...3, using: &generator)
                    let fields = RandomDocuments.fields.shuffled(using: &generator).prefix(count)
                    let definition = try IndexDefinition(
                        collection: collection,
                        fields: fields.map { IndexDefinition.Field($0, generator.chance(50) ? .ascending : .descending) }
                    )
                    _ = try? await hosts[1].store.changeIndexes(.create(definition))
                }
                guard let field = RandomDocuments.fields.randomElement(using: &generator) else { continue }
                let exemption = try IndexExemption(collection: collection, field: field)
                let change = generator.chance(50) ? IndexChange.exempt(exemption) : .unexempt(exemption)
                _ = try? await hosts[1].store.changeIndexes(change)
            }
            if round == 0 { try await write(documents, to: store) }
            try await QueryComparison(store: store, documents: documents).compareQueries(60, mayReject: true)
            try await waitForIndexes(store)
            try server.expectConsistentEntries(configuration, "round \(round)")
            try await QueryComparison(store: store, documents: documents).compareQueries(60, mayReject: true)
        }
        for index in await store.indexes().indexes { _ = try await store.changeIndexes(.delete(id: index.id)) }
        for exemption in await store.indexes().exemptions { _ = try await store.changeIndexes(.unexempt(exemption)) }
        try await waitForIndexes(store)
        try server.expectConsistentEntries(configuration, "without definitions")
        for host in hosts { await host.close() }
    }

    private func waitForIndexes(_ store: some DocumentStore) async throws {
        while true {
            let report = await store.indexes()
            if report.singleFields == .ready, report.backfills.isEmpty { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test
    func `Values and names that are longer than the engine's keys are found, counted and ordered`() async throws {
        var generator = SeededGenerator()
        // Letters that do not compress, so that an entry is as long as can be.
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        func text(_ count: Int) -> String { String((0..<count).map { _ in letters.randomElement(using: &generator) ?? "a" }) }
        let (prefix, value) = (text(1_490), text(1_495))
        let parent = try DocumentPath("\(text(1_490))/\(text(1_490))")
        var documents: [Document] = []
        for index in 0..<12 {
            let collections = [
                collection, CollectionPath(parent: try DocumentPath("p/\(text(1_490))"), id: collection.id),
                CollectionPath(parent: parent, id: collection.id),
            ]
            for parent in collections {
                let fields: MapValue = ["v": .string(value + (index < 6 ? "a" : "b")), "n": .integer(Int64(index % 3))]
                let path = parent.document(try DocumentPath.ID(prefix + text(9)))
                documents.append(Document(path: path, fields: fields, createTime: .minimum, updateTime: .minimum))
            }
        }
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        try await write(documents.shuffled(using: &generator), to: store)
        let oracle = QueryOracle(documents)
        let (field, number) = try (FieldPath("v"), FieldPath("n"))
        let sources: [StructuredQuery.Source] = [
            .collection(collection), .collectionGroup(collection.id, below: nil), .collectionGroup(collection.id, below: parent),
        ]
        for source in sources {
            for direction in [StructuredQuery.Order.Direction.ascending, .descending] {
                for limit in [nil, 5] {
                    var equal = StructuredQuery(
                        source,
                        where: .and([
                            .field(field, .equal(.string(value + "a"))), .field(number, .equal(.integer(1))),
                        ])
                    )
                    equal.orders = [StructuredQuery.Order(.field(.documentName), direction)]
                    var ordered = StructuredQuery(source, orders: [StructuredQuery.Order(.field(number), direction)])
                    ordered.start = StructuredQuery.Cursor([.integer(1), .reference(documents[4].path)], isInclusive: false)
                    for var query in [equal, ordered] {
                        query.limit = limit.map { .first($0) }
                        let results = try await run(query, on: store)
                        let expected = oracle.run(query).map(\.path)
                        #expect(results.documents.map(\.path) == expected, "\(query.limit as Any) \(direction)")
                    }
                }
            }
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "count")])
            let query = StructuredQuery(source, where: .field(number, .equal(.integer(1))))
            let results = try await store.aggregate(NormalizedQuery(query), count, readTime: nil).results
            #expect(results["count" as UTF8Key] == .integer(Int64(oracle.run(query).count)))
        }
        try server.expectConsistentEntries(configuration)
        _ = try await store.commit(documents.map { .delete($0.path) })
        try server.expectConsistentEntries(configuration)
        await host.close()
    }

    @Test
    func `Entries agree with the documents after the engine was killed during commits`() async throws {
        let server = try await EngineServer()
        let configuration = try await server.makeConfiguration()
        let hosts = try await openHosts(configuration)
        let acknowledgements = AsyncStream<Void>.makeStream()
        let writers = Task {
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var generator = SeededGenerator()
                        for _ in 0..<writer { _ = generator.next() }
                        var random = RandomDocuments(generator: generator)
                        while !Task.isCancelled {
                            let path = random.path()
                            let fields = random.generator.chance(25) ? nil : random.fields()
                            let commit = {
                                try await hosts[writer % 2].store.commit([fields.map { try .set(path, $0) } ?? .delete(path)])
                            }
                            guard (try? await commit()) != nil else {
                                try? await Task.sleep(for: .milliseconds(20))
                                continue
                            }
                            acknowledgements.continuation.yield()
                        }
                    }
                }
            }
        }
        var received = acknowledgements.stream.makeAsyncIterator()
        for _ in 0..<3 {
            for _ in 0..<100 { _ = await received.next() }
            try await server.stopImmediately()
            try await server.start()
        }
        for _ in 0..<50 { _ = await received.next() }
        writers.cancel()
        await writers.value
        for host in hosts { await host.close() }
        try server.expectConsistentEntries(configuration)
    }
}

extension Document {
    fileprivate init(_ document: Document, _ fields: MapValue) {
        self.init(path: document.path, fields: fields, createTime: document.createTime, updateTime: document.updateTime)
    }
}
