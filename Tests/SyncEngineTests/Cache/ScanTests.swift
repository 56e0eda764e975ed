import DocumentModel
import QueryTestSupport
import SyncCache
import TestSupport
import Testing
import UTF8Text

@testable import SyncEngine

@Suite("Scans of a cache in steps")
struct ScanTests {
    /// Two clients with the same documents and local writes.
    private struct Clients {
        var stepping = SyncEngine(cache: PersistentCache.inMemory())
        var reference = SyncEngine(cache: MemoryCache(isEager: false))
        private var documents: RandomDocuments
        private var version: Int64 = 0

        init(seed: UInt64) throws {
            documents = RandomDocuments(generator: SeededGenerator(seed: seed))
            _ = try stepping.start()
            _ = try reference.start()
        }

        /// Changes some documents: they appear, change, vanish or may no longer be read, or are written.
        mutating func change(_ count: Int) throws {
            version += 1
            let time = try Timestamp(microseconds: version)
            guard documents.generator.chance(70) else {
                let path = documents.path()
                let write: Write = documents.generator.chance(30) ? .delete(path) : try .set(path, documents.fields())
                _ = try stepping.write([write], nil, at: time)
                _ = try reference.write([write], nil, at: time)
                return
            }
            let changed = documents.documents(count).map { document in
                let isMissing = documents.generator.chance(25)
                return RemoteDocument(
                    path: document.path,
                    content: isMissing ? .missing : .found(document.fields, createTime: nil),
                    version: time
                )
            }
            let inaccessible = documents.generator.chance(30) ? Set([documents.path()]) : []
            let event = RemoteEvent(time: time, documents: changed, inaccessible: inaccessible)
            _ = try stepping.apply(event)
            _ = try reference.apply(event)
        }
    }

    @Test(arguments: (0..<6).map { SeededGenerator.currentSeed &+ $0 })
    func `A scan in steps has the result that the cache has in the end, whatever changes between them`(seed: UInt64) throws {
        var clients = try Clients(seed: seed)
        var queries = RandomQueries(generator: SeededGenerator(seed: seed &+ 1))
        var stepCount = 0
        while clients.reference.cache.lastChange < 1 { try clients.change(200) }
        for _ in 0..<40 {
            var query = queries.query()
            (query.projection, query.vectorSearch) = ([], nil)
            guard let view = try? ViewQuery(query) else { continue }
            var scan: ScanID?
            var result: ViewSnapshot?
            while result == nil {
                switch try clients.stepping.result(of: view, continuing: scan, maximumCount: 7) {
                case .complete(let complete): result = complete.snapshot
                case .incomplete(let begun):
                    stepCount += 1
                    scan = begun
                    if stepCount.isMultiple(of: 3) { try clients.change(4) }
                }
            }
            let expected = try clients.reference.result(of: view)
            try #require(result?.documents == expected.documents, "Seed \(seed), \(query)")
        }
        #expect(stepCount > 40)
        #expect(clients.stepping.store.scans.isEmpty)
    }

    @Test
    func `A listener is added after the last step, and one to the same query does not wait for it`() throws {
        var clients = try Clients(seed: SeededGenerator.currentSeed)
        while clients.reference.cache.lastChange < 1 { try clients.change(200) }
        let query = try ViewQuery(StructuredQuery(.descendants(of: nil)))
        var engine = clients.stepping
        guard
            case .incomplete(let first) = try engine.listen(1, to: query, options: .init(), continuing: nil, maximumCount: 5),
            case .incomplete(let second) = try engine.listen(1, to: query, options: .init(), continuing: first, maximumCount: 5)
        else { return #expect(Bool(false), "Expected a scan.") }
        #expect(engine.target(of: 1) == nil)
        _ = try engine.listen(2, to: query)
        guard case .complete(let effects) = try engine.listen(1, to: query, options: .init(), continuing: second, maximumCount: 5)
        else { return #expect(Bool(false), "Expected the view.") }
        #expect(engine.target(of: 1) == engine.target(of: 2))
        let expected = try clients.reference.result(of: query).documents
        let raised = effects.compactMap { if case .raise(1, let snapshot) = $0 { snapshot.documents } else { nil } }
        #expect(raised == [expected])
        #expect(engine.store.scans.isEmpty)
    }

    @Test
    func `A scan that is ended leaves nothing, and one over a cache that was replaced begins anew`() throws {
        var clients = try Clients(seed: SeededGenerator.currentSeed)
        while clients.reference.cache.lastChange < 1 { try clients.change(200) }
        let query = try ViewQuery(StructuredQuery(.descendants(of: nil)))
        guard case .incomplete(let ended) = try clients.stepping.result(of: query, continuing: nil, maximumCount: 5),
            case .incomplete(let scan) = try clients.stepping.result(of: query, continuing: nil, maximumCount: 5)
        else { return #expect(Bool(false), "Expected scans.") }
        clients.stepping.end(ended)
        #expect(clients.stepping.store.scans.count == 1)
        _ = try clients.stepping.replaceCache(with: .inMemory(), keepsNumbers: true)
        guard case .complete(let result) = try clients.stepping.result(of: query, continuing: scan, maximumCount: .max) else {
            return #expect(Bool(false), "Expected a result.")
        }
        #expect(result.snapshot.documents.isEmpty)
    }

    @Test
    func `A scan that fails leaves nothing`() throws {
        var clients = try Clients(seed: SeededGenerator.currentSeed)
        while clients.reference.cache.lastChange < 1 { try clients.change(200) }
        let query = try ViewQuery(StructuredQuery(.descendants(of: nil)))
        guard case .incomplete(let scan) = try clients.stepping.result(of: query, continuing: nil, maximumCount: 5) else {
            return #expect(Bool(false), "Expected a scan.")
        }
        clients.stepping.cache.close()
        #expect(throws: StatusError.self) {
            try clients.stepping.result(of: query, continuing: scan, maximumCount: 5)
        }
        #expect(clients.stepping.store.scans.isEmpty)
    }

    @Test(arguments: [0, 900, 1_500])
    func `A scan of many matches finds the first ones, however many of them local writes remove`(deletedCount: Int) throws {
        var engine = SyncEngine(cache: PersistentCache.inMemory())
        _ = try engine.start()
        let paths = try (0..<3_000).map { try DocumentPath("c/x\($0)") }
        let documents = paths.enumerated().map { number, path in
            RemoteDocument(path: path, content: .found(["n": .integer(Int64(number))], createTime: nil), version: .minimum)
        }
        _ = try engine.apply(RemoteEvent(documents: documents.shuffled()))
        for start in stride(from: 0, to: deletedCount, by: 300) {
            let writes = paths[start..<min(start + 300, deletedCount)].map { Write.delete($0) }
            _ = try engine.write(writes, nil, at: .minimum)
        }
        let query = try ViewQuery(orders: [.init(.field(FieldPath("n")))], limit: .first(5))
        #expect(try engine.result(of: query).documents.map(\.path) == Array(paths[deletedCount..<deletedCount + 5]))
        #expect(engine.store.scans.isEmpty)
    }

    @Test
    func `A scan in steps finds the first ones, also after it has dropped some of them`() throws {
        var engine = SyncEngine(cache: PersistentCache.inMemory())
        _ = try engine.start()
        let paths = try (0..<4_000).map { try DocumentPath("c/x\($0)") }
        let documents = paths.enumerated().map { number, path in
            RemoteDocument(path: path, content: .found(["n": .integer(Int64(number))], createTime: nil), version: .minimum)
        }
        // The last ones are read last, when most others are dropped.
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed)
        _ = try engine.apply(RemoteEvent(documents: documents.dropLast(500).shuffled(using: &generator) + documents.suffix(500)))
        for start in stride(from: 0, to: 1_500, by: 300) {
            _ = try engine.write(paths[start..<start + 300].map { .delete($0) }, nil, at: .minimum)
        }
        let query = try ViewQuery(orders: [.init(.field(FieldPath("n")))], limit: .first(5))
        var scan: ScanID?
        var result: ViewSnapshot?
        while result == nil {
            switch try engine.result(of: query, continuing: scan, maximumCount: 1_000) {
            case .complete(let complete): result = complete.snapshot
            case .incomplete(let begun): scan = begun
            }
        }
        #expect(result?.documents.map(\.path) == Array(paths[1_500..<1_505]))
    }
}
