import DocumentModel
import DocumentStore
import QueryEngine
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Listings of large collections from the index", .tags(.slow))
struct IndexedListingTests {
    private var fixture: StoreFixture
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    init() throws {
        fixture = try StoreFixture()
        fixture.configuration.listedFolderBytes = 0
    }

    @Test(arguments: [false, true])
    func `Listings read a number of rows proportional to the page, not to the collection`(includingMissing: Bool) async throws {
        try await fixture.withStore { store in
            for size in [100, 1_000, 4_000] {
                let collection = try CollectionPath("c\(size)")
                try await store.fill(collection, size)
                for after in [nil, "d\(size / 2)"] as [String?] {
                    let after = try after.map { try DocumentPath.ID($0) }
                    let (count, found) = try await store.readIndex { snapshot throws(StatusError) in
                        var indexed = IndexedListingReader(
                            of: collection,
                            after: after,
                            limit: 10,
                            includingMissing: includingMissing,
                            snapshot
                        )
                        let ids = try indexed.ids()
                        return (indexed.rowCount, ids.count)
                    }
                    #expect(found == 11)
                    #expect(count <= 24, "of \(size)")
                }
            }
        }
    }

    @Test
    func `Listings from the index equal those from the folder`() async throws {
        try await fixture.withStore { store in
            var generator = SeededGenerator()
            let paths = try Self.paths(&generator)
            for start in stride(from: 0, to: paths.count, by: 25) {
                let some = paths[start..<min(start + 25, paths.count)]
                _ = try await store.commit(some.map { try .set($0, ["n": .integer(1)]) })
                _ = try await store.commit([.delete(some[start])])
            }
            try await store.waitUntilIndexed()
            var entries = 0
            for _ in 0..<400 {
                let path = try #require(paths.randomElement(using: &generator))
                let listing = DocumentPageRequest(
                    collection: path.collection,
                    after: Bool.random(using: &generator) ? nil : paths.randomElement(using: &generator)?.id,
                    limit: Int.random(in: 1...20, using: &generator),
                    includingMissing: Bool.random(using: &generator)
                )
                let found = try await store.reader.currentDocuments(listing)
                let expected = try store.components.files.documents(listing, unapplied: UnappliedDocuments.CollectionOverlay())
                #expect(found.ids == expected.ids && found.next == expected.next, "\(listing) \(Self.seed)")
                #expect(found.documents == expected.documents, "\(listing) \(Self.seed)")
                entries += found.documents.count
            }
            #expect(entries > 400, "\(Self.seed)")
        }
    }

    @Test(arguments: [false, true])
    func `Listings return the documents as of a read time during concurrent commits`(includingMissing: Bool) async throws {
        try await fixture.withStore { store in
            var generator = SeededGenerator()
            let paths = try Self.paths(&generator)
            for start in stride(from: 0, to: paths.count, by: 50) {
                let some = paths[start..<min(start + 50, paths.count)]
                _ = try await store.commit(some.map { try .set($0, ["n": .integer(1)]) })
            }
            let time = try #require(store.position.lastCommitTime)
            let top = try CollectionPath("c")
            let there = paths.filter { $0.collection == top }.map(\.id)
            let all = try Set(paths.map { try DocumentPath.ID($0.segments[1].string) })
            let expected = includingMissing ? all.sorted() : there.sorted()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { () throws in
                    var generator = SeededGenerator()
                    for round in 0..<150 {
                        let path = try #require(paths.randomElement(using: &generator))
                        let isDeleted = Bool.random(using: &generator)
                        _ = try await store.commit([
                            isDeleted ? .delete(path) : .set(path, ["n": .integer(2)]),
                            .set(top.document(DocumentPath.ID("new\(round)")), [:]),
                        ])
                    }
                }
                group.addTask { () throws in
                    for _ in 0..<5 {
                        var found: [ListedDocument] = []
                        var after: DocumentPath.ID?
                        repeat {
                            let page = try await store.documents(
                                in: top,
                                after: after,
                                limit: 13,
                                includingMissing: includingMissing,
                                readTime: time
                            )
                            found += page.documents
                            after = page.next
                        } while after != nil
                        #expect(found.map(\.path.id) == expected, "\(Self.seed)")
                        for case .document(let document) in found {
                            #expect(try document.decoded().fields == ["n": .integer(1)], "\(Self.seed)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `Listings reflect every acknowledged create and delete`() async throws {
        try await fixture.withStore { store in
            for number in 0..<60 {
                try await store.set("c/\(number)", [:])
                if number > 0 { try await store.delete("c/\(number - 1)") }
                #expect(try await store.list("c").ids == ["\(number)"])
            }
        }
    }

    @Test
    func `Listings report damaged documents, including those damaged before a rebuild`() async throws {
        try await fixture.withStore { store in
            for id in ["a", "b", "c"] { try await store.set("c/\(id)", [:]) }
        }
        try fixture.folder.write("{", to: "data/documents/c/a.json")
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            try fixture.folder.write("{", to: "data/documents/c/b.json")
            let page = try await store.list("c")
            #expect(page.ids == ["c"])
            #expect(page.damaged.map(\.path) == ["c/a", "c/b"])
        }
    }

    @Test
    func `Listings read the folder while it is small or the index is not available`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try await store.waitUntilIndexed()
        }
        let text = try fixture.folder.text(of: "data/documents/c/a.json")
        try fixture.folder.write(text, to: "data/documents/c/b.json")
        try await fixture.withStore { store in
            try await store.waitUntilIndexed()
            #expect(try await store.list("c").ids == ["a"])
            await store.close()
            #expect(try await store.list("c").ids == ["a", "b"])
        }
        var small = fixture
        small.configuration.listedFolderBytes = 1 << 20
        try await small.withStore { store in
            try await store.waitUntilIndexed()
            #expect(try await store.list("c").ids == ["a", "b"])
        }
    }

    /// Returns documents of a collection, and of subcollections below existing and missing documents.
    private static func paths(_ generator: inout SeededGenerator) throws -> [DocumentPath] {
        let ids = ["a", "a!", "a/", "é", "e\u{301}", "__id7__", "__id12__", "B", "🐵"].filter { !$0.utf8.contains(0x2f) }
        var paths: Set<DocumentPath> = []
        while paths.count < 260 {
            let id = (ids.randomElement(using: &generator) ?? "a") + (Bool.random(using: &generator) ? "" : "\(paths.count)")
            let depth = Int.random(in: 0..<6, using: &generator)
            let below = depth < 4 ? "" : depth == 4 ? "/s/x" : "/t\(paths.count % 3)/x/s/\(id)"
            paths.insert(try DocumentPath("c/\(id)\(below)"))
        }
        return paths.sorted()
    }
}

extension FileStore {
    /// Writes documents `d0`, `d1` and so on, every fifth with a descendant; every fifteenth is missing.
    fileprivate func fill(_ collection: CollectionPath, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 400) {
            let writes = try (start..<min(start + 400, count)).flatMap { index -> [Write] in
                let path = collection.document(try DocumentPath.ID("d\(index)"))
                var writes = index.isMultiple(of: 15) ? [] : [try Write.set(path, [:])]
                if index.isMultiple(of: 5) { writes.append(try .set(DocumentPath("\(path)/s/x"), [:])) }
                return writes
            }
            _ = try await commit(writes)
        }
    }
}
