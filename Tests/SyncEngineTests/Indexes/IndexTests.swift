import DocumentModel
import QueryTestSupport
import SyncCache
import TestSupport
import Testing
import UTF8Text

@testable import SyncEngine

@Suite("Indexes of a cache")
struct IndexTests {
    private static let pages = StructuredQuery.Order(.field(RandomDocuments.fields[2]))

    /// Saves documents with the fields `n` and `a`.
    private func save(_ numbers: Range<Int>, in engine: inout SyncEngine<PersistentCache>) throws {
        let documents = try numbers.map { number in
            let fields: MapValue = ["n": .integer(Int64(number)), "a": .integer(Int64(number % 7))]
            return RemoteDocument(
                path: try DocumentPath("c/x\(number)"),
                content: .found(fields, createTime: nil),
                version: try Timestamp(microseconds: 1)
            )
        }
        _ = try engine.apply(RemoteEvent(documents: documents))
    }

    private func fill(_ engine: inout SyncEngine<PersistentCache>) throws {
        while engine.hasIncompleteIndexes { try engine.fillIndexes(maximumCount: 60) }
    }

    @Test(arguments: [
        (true, 100, 50, true), (true, 99, 50, false), (false, 100, 50, false), (true, 100, 100, true), (true, 150, 5, true),
    ])
    func `A query that reads many more documents than its result gets an index`(
        isEnabled: Bool,
        count: Int,
        limit: Int,
        isIndexed: Bool
    ) throws {
        var engine = SyncEngine(cache: PersistentCache.inMemory())
        _ = try engine.start()
        try save(0..<count, in: &engine)
        engine.createsIndexes = isEnabled
        // Half of the documents, and never more than the limit.
        let filter = QueryFilter.field(try FieldPath("n"), .less(.integer(Int64(count) * (limit == 100 ? 4 : 2) / 10)))
        let query = try ViewQuery(where: filter, limit: .first(limit))
        _ = try engine.result(of: query)
        #expect(engine.hasIncompleteIndexes == isIndexed)
        try fill(&engine)
        #expect(!engine.hasIncompleteIndexes)
        // Now it reads no more than its result.
        _ = try engine.result(of: query)
        #expect(!engine.hasIncompleteIndexes)
    }

    @Test
    func `A query of most documents, or one that an index does not help, gets none`() throws {
        var engine = SyncEngine(cache: PersistentCache.inMemory())
        _ = try engine.start()
        try save(0..<200, in: &engine)
        engine.createsIndexes = true
        for query in [
            try ViewQuery(), try ViewQuery(where: .field(FieldPath("n"), .less(.integer(190)))),
            try ViewQuery(where: .field(FieldPath("tags"), .arrayContains(.integer(1))), orders: [Self.pages], limit: .first(5)),
        ] {
            _ = try engine.result(of: query)
            #expect(!engine.hasIncompleteIndexes)
        }
    }

    @Test
    func `Removed indexes are made again, and incomplete ones completed after a restart`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        var engine = SyncEngine(cache: try PersistentCache(folder: folder["cache"]))
        _ = try engine.start()
        try save(0..<300, in: &engine)
        engine.createsIndexes = true
        let query = try ViewQuery(orders: [Self.pages], limit: .first(5))
        let expected = try engine.result(of: query).documents
        try engine.fillIndexes(maximumCount: 60)
        #expect(engine.hasIncompleteIndexes)
        engine.cache.close()
        engine = SyncEngine(cache: try PersistentCache(folder: folder["cache"]))
        _ = try engine.start()
        #expect(engine.hasIncompleteIndexes)
        #expect(try engine.result(of: query).documents == expected)
        try fill(&engine)
        #expect(try engine.result(of: query).documents == expected)
        try engine.removeIndexes()
        #expect(try engine.result(of: query).documents == expected)
        try fill(&engine)
        engine.createsIndexes = true
        _ = try engine.result(of: query)
        #expect(engine.hasIncompleteIndexes)
        engine.cache.close()
    }

    /// One client has indexes, the other none. Both receive the same documents, removals and local writes, and run the same queries
    /// before, while and after the indexes are filled.
    @Test(arguments: (0..<4).map { SeededGenerator.currentSeed &+ $0 })
    func `A query gives the same result with indexes as by a scan`(seed: UInt64) throws {
        var documents = RandomDocuments(generator: SeededGenerator(seed: seed))
        var queries = RandomQueries(generator: SeededGenerator(seed: seed &+ 1))
        var indexed = SyncEngine(cache: PersistentCache.inMemory())
        var scanned = SyncEngine(cache: MemoryCache(isEager: false))
        _ = try indexed.start()
        _ = try scanned.start()
        var version: Int64 = 0
        var usedIndexes = 0
        for round in 0..<8 {
            let count = round == 0 ? 300 : Int.random(in: 0...40, using: &documents.generator)
            version += 1
            let time = try Timestamp(microseconds: version)
            var changed: [DocumentPath: RemoteDocument] = [:]
            for document in documents.documents(count) {
                let isMissing = documents.generator.chance(15)
                changed[document.path] = RemoteDocument(
                    path: document.path,
                    content: isMissing ? .missing : .found(document.fields, createTime: nil),
                    version: time
                )
            }
            let inaccessible = documents.generator.chance(20) ? Set([documents.path()]) : []
            let event = RemoteEvent(time: time, documents: Array(changed.values), inaccessible: inaccessible)
            _ = try indexed.apply(event)
            _ = try scanned.apply(event)
            if documents.generator.chance(60) {
                let write: Write =
                    switch Int.random(in: 0..<3, using: &documents.generator) {
                    case 0: .delete(documents.path())
                    case 1: try .update(documents.path(), [(RandomDocuments.fields[2], documents.value())])
                    default: try .set(documents.path(), documents.fields())
                    }
                _ = try indexed.write([write], nil, at: time)
                _ = try scanned.write([write], nil, at: time)
            }
            for _ in 0..<25 {
                var query = queries.query()
                (query.projection, query.vectorSearch) = ([], nil)
                guard let view = try? ViewQuery(query) else { continue }
                let found = try indexed.result(of: view).documents
                let expected = try scanned.result(of: view).documents
                try #require(found == expected, "Seed \(seed), round \(round), \(query)")
                if let scans = view.indexScans, documents.generator.chance(60) {
                    usedIndexes += 1
                    try indexed.store.addIndexes(Set(scans.map(\.index)))
                    if documents.generator.chance(80) { try fill(&indexed) } else { try indexed.fillIndexes(maximumCount: 30) }
                    let again = try indexed.result(of: view).documents
                    try #require(again == expected, "Seed \(seed), round \(round), \(query)")
                }
            }
            if documents.generator.chance(30) { try indexed.removeIndexes() }
        }
        #expect(usedIndexes > 10)
    }
}
