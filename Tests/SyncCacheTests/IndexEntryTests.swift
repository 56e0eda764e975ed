import DocumentModel
import SyncCache
import SyncEngine
import TestSupport
import Testing
import UTF8Text

@Suite("The entries of indexes")
struct IndexEntryTests {
    private func indexes() throws -> [FieldIndex] {
        let a = StructuredQuery.Order(.field(try FieldPath("a")))
        let b = StructuredQuery.Order(.field(try FieldPath("b")), .descending)
        let name = StructuredQuery.Order(.field(.documentName))
        let collection = StructuredQuery.Source.collection(try CollectionPath("c"))
        let group = StructuredQuery.Source.collectionGroup(try CollectionID("sub"), below: nil)
        return [
            FieldIndex(collection, orders: [a, name]),
            FieldIndex(group, orders: [a, b, name]),
            FieldIndex(collection, orders: [StructuredQuery.Order(name.key, .descending)]),
        ]
        .compactMap(\.self)
    }

    /// Returns one of many indexes.
    static func index(_ number: Int) throws -> FieldIndex? {
        let orders = [StructuredQuery.Order(.field(try FieldPath("f\(number)"))), StructuredQuery.Order(.field(.documentName))]
        return FieldIndex(.collection(try CollectionPath("c")), orders: orders)
    }

    private func entries(of index: FieldIndex, _ cache: PersistentCache, isReversed: Bool = false) throws -> [DocumentPath] {
        var paths: [DocumentPath] = []
        let scan = IndexScan(index, ValueKeyRange(lower: [], upper: [0xff]), isReversed: isReversed)
        try cache.visitDocuments(in: scan) { (document) throws(StatusError) in
            paths.append(document.path)
            return true
        }
        return paths
    }

    /// The index is filled while documents are saved, removed and rolled back.
    @Test(arguments: (0..<6).map { SeededGenerator.currentSeed &+ $0 })
    func `Are those of the documents after any steps`(seed: UInt64) throws {
        var contents = RandomContents(random: SeededGenerator(seed: seed))
        var cache = PersistentCache.inMemory()
        for round in 0..<80 {
            let steps = try (0..<3).map { _ in try CacheStep(&contents) }
            let isRolledBack = contents.random.chance(15)
            try? cache.transaction { (cache: inout PersistentCache) throws(StatusError) in
                for step in steps { try step.apply(to: &cache) }
                if isRolledBack { throw StatusError(.aborted, "The transaction is rolled back.") }
            }
            if round == 10 { try cache.addIndexes(Set(indexes())) }
            if round > 10, contents.random.chance(30) { _ = try cache.fillIndexes(maximumCount: 2) }
            for index in try indexes() where try cache.isComplete(index) {
                var keys: [(key: [UInt8], path: DocumentPath)] = []
                try cache.visitDocuments(in: index.source, after: 0) { (document) throws(StatusError) in
                    guard case .found(let fields, _) = document.content else { return }
                    if let key = index.key(of: fields, at: document.path) { keys.append((key, document.path)) }
                }
                let found = try entries(of: index, cache)
                let expected = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.path)
                try #require(found == expected, "Seed \(seed), round \(round)")
                let reversed = try entries(of: index, cache, isReversed: true)
                try #require(reversed == expected.reversed(), "Seed \(seed), round \(round)")
            }
        }
        while try cache.fillIndexes(maximumCount: 2) {}
        #expect(try indexes().allSatisfy { try cache.isComplete($0) })
    }

    @Test
    func `A document with a value that is too long for a key is visited by every scan`() throws {
        var cache = PersistentCache.inMemory()
        let long = Value.array((0..<400).map { .integer($0) })
        let documents = [("c/a", long), ("c/b", .integer(1))].map { path, value in
            RemoteDocument(
                path: RandomContents.path(path),
                content: .found(["a": value], createTime: nil),
                version: .minimum
            )
        }
        try cache.save(documents)
        let index = try indexes()[0]
        try cache.addIndexes([index])
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try entries(of: index, cache) == documents.map(\.path))
        #expect(index.key(of: ["a": long], at: documents[0].path) == FieldIndex.unorderedKey)
        try cache.removeDocuments(at: [documents[0].path])
        #expect(try entries(of: index, cache) == [documents[1].path])
        try cache.removeIndexes()
        #expect(try !cache.isComplete(index))
        // Its entries are deleted in steps, and are not those of another one.
        #expect(try cache.hasIncompleteIndexes)
        try cache.addIndexes([index])
        #expect(try cache.fillIndexes(maximumCount: 10) && !cache.isComplete(index))
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try entries(of: index, cache) == [documents[1].path])
    }

    @Test
    func `The least recently used index gives way to one more than the maximum`() throws {
        var cache = PersistentCache.inMemory()
        let indexes = try (0...FieldIndex.maximumCount).map { try #require(try Self.index($0)) }
        try cache.save([
            RemoteDocument(
                path: RandomContents.path("c/a"),
                content: .found(["f0": .integer(1), "f1": .integer(1)], createTime: nil),
                version: .minimum
            )
        ])
        for index in indexes.dropLast() { try cache.addIndexes([index]) }
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try indexes.dropLast().allSatisfy { try cache.isComplete($0) })
        try cache.touch([indexes[0]])
        try cache.addIndexes([indexes[FieldIndex.maximumCount]])
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try indexes.filter { try !cache.isComplete($0) } == [indexes[1]])
        #expect(try entries(of: indexes[0], cache) == [RandomContents.path("c/a")])
        #expect(try entries(of: indexes[1], cache).isEmpty)
        // It begins without the entries that it had.
        try cache.removeDocuments(at: [RandomContents.path("c/a")])
        try cache.addIndexes([indexes[1]])
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try entries(of: indexes[1], cache).isEmpty)
    }

    @Test func `An index that a query lacks does not take the place of another one that it uses`() throws {
        var cache = PersistentCache.inMemory()
        let indexes = try (0...FieldIndex.maximumCount).map { try #require(try Self.index($0)) }
        for index in indexes.dropLast() { try cache.addIndexes([index]) }
        while try cache.fillIndexes(maximumCount: 10) {}
        try cache.addIndexes([indexes[0], indexes[FieldIndex.maximumCount]])
        while try cache.fillIndexes(maximumCount: 10) {}
        #expect(try indexes.filter { try !cache.isComplete($0) } == [indexes[1]])
    }
}
