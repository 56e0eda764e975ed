import DocumentModel
import DocumentStore
import GRDB
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Collection sizes")
struct CollectionSizeTests {
    private let fixture: StoreFixture
    private static let collections = ["a", "b", "a/a0/c", "b/b1/c"]

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Collection sizes match the documents after writes, restarts and a rebuild of the index`() async throws {
        var random = SeededGenerator()
        for round in 0..<4 {
            if round == 2 { try fixture.folder.remove("data/index.sqlite") }
            try await fixture.withStore { store in
                try await check(store)
                for _ in 0..<20 {
                    _ = try await store.commit(
                        (0..<Int.random(in: 1...5, using: &random)).map { _ in try Self.write(&random) }
                    )
                }
                try await check(store)
            }
            #expect(try await fixture.findings() == [])
        }
    }

    @Test
    func `Collection sizes include values that exceed the length of an index key`() async throws {
        try await fixture.withStore { store in
            for length in [10, 100_000, 100_001] {
                try await store.set("a/d", ["text": .string(String(repeating: "x", count: length))])
                try await check(store)
            }
        }
    }

    @Test
    func `A check finds collection sizes that differ from the documents`() async throws {
        try await fixture.withStore { store in try await store.set("a/d", ["n": .integer(1)]) }
        let index = try DatabaseQueue(path: fixture.folder["data/index.sqlite"])
        try await index.write { try $0.execute(sql: "UPDATE sizes SET bytes = bytes + 1") }
        try index.close()
        #expect(try await fixture.findings().map(\.kind) == [.damagedIndex])
    }

    private static func write(_ random: inout SeededGenerator) throws -> Write {
        let collection = collections.randomElement(using: &random) ?? "a"
        let path = try DocumentPath("\(collection)/\(collection.prefix(1))\(Int.random(in: 0..<4, using: &random))")
        guard Int.random(in: 0..<4, using: &random) > 0 else { return Write(path: path, operation: .delete) }
        let text = String(repeating: "ü", count: Int.random(in: 0..<40, using: &random))
        return Write(path: path, operation: .replace(["t": .string(text), "l": .array([.integer(1), .null])]))
    }

    /// Compares the sizes that the store reports with the sums over all documents.
    private func check(_ store: FileStore) async throws {
        var all = CollectionSize.zero
        for name in Self.collections {
            let collection = try CollectionPath(name)
            let page = try await store.documents(in: collection, after: nil, limit: 100, includingMissing: false)
            var expected = CollectionSize.zero
            for case .document(let document) in page.documents {
                expected += CollectionSize(
                    documentCount: 1,
                    byteCount: Document.size(of: try document.decoded().fields, at: document.path)
                )
            }
            #expect(try await store.size(of: collection) == expected, "seed \(SeededGenerator.currentSeed)")
            all += expected
        }
        #expect(try await store.size(of: nil) == all)
        #expect(try await store.size(of: CollectionPath("none")) == .zero)
    }
}
