import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@Suite("Listing collections")
struct ListingTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Documents are listed in ID order: numeric IDs first, then by bytes`() async throws {
        let ordered = [
            "__id-9223372036854775808__", "__id-2__", "__id7__", "__id12__", "__id9223372036854775807__", "12", "7", "A", "Aa",
            "__id", "__id1_",
            "_id1__", "a", "e\u{301}", "\u{e9}", "︒", "🐵",
        ]
        try await fixture.withStore { store in
            for id in ordered.reversed() { try await store.set("c/\(id)", [:]) }
            #expect(try await store.list("c").ids == ordered)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 8, 100])
    func `Pages have no gaps or duplicates`(limit: Int) async throws {
        try await fixture.withStore { store in
            let ids = (0..<7).map { "d\($0)" }
            for id in ids { try await store.set("c/\(id)", [:]) }
            var found: [String] = []
            var after: String?
            repeat {
                let page = try await store.list("c", after: after, limit: limit)
                #expect(page.documents.count <= limit)
                found += page.ids
                after = page.next?.key.string
            } while after != nil
            #expect(found == ids)
        }
    }

    @Test
    func `A page can start after an ID that doesn't exist`() async throws {
        try await fixture.withStore { store in
            for id in ["a", "c"] { try await store.set("c/\(id)", [:]) }
            #expect(try await store.list("c", after: "b").ids == ["c"])
            #expect(try await store.list("c", after: "z").ids.isEmpty)
            #expect(try await store.list("none").ids.isEmpty)
        }
    }

    @Test
    func `Missing documents with descendants are listed on request`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/b", [:])
            try await store.set("c/a/sub/x/deep/y", [:])
            try await store.set("c/b/sub/x", [:])
            #expect(try await store.list("c").ids == ["b"])
            #expect(try await store.list("c", includingMissing: true).ids == ["(a)", "b"])
            #expect(try await store.list("c/a/sub", includingMissing: true).ids == ["(x)"])
            let page = try await store.list("c", limit: 1, includingMissing: true)
            #expect(page.ids == ["(a)"] && page.next?.key == "a")
            try await store.delete("c/a/sub/x/deep/y")
            #expect(try await store.list("c", includingMissing: true).ids == ["b"])
        }
    }

    @Test
    func `A collection exists if and only if there is a document in or below it`() async throws {
        try await fixture.withStore { store in
            #expect(try await store.collections().isEmpty)
            try await store.set("b/x", [:])
            try await store.set("a/missing/sub/y", [:])
            try await store.set("b/x/inner/z", [:])
            #expect(try await store.collections() == ["a", "b"])
            #expect(try await store.collections(under: "a/missing") == ["sub"])
            #expect(try await store.collections(under: "b/x") == ["inner"])
            #expect(try await store.collections(under: "b/none").isEmpty)
            try await store.delete("a/missing/sub/y")
            #expect(try await store.collections() == ["b"])
        }
    }

    @Test
    func `A collection exists while any of its files exists, whoever deletes them`() async throws {
        try await fixture.withStore { store in
            for id in ["x", "y", "z"] { try await store.set("c/\(id)", [:]) }
            for id in ["y", "x", "z"] {
                #expect(try await store.collections() == ["c"])
                try fixture.folder.remove("data/documents/c/\(id).json")
            }
            #expect(try await store.collections().isEmpty)
            try await store.set("c/x", [:])
            #expect(try await store.collections() == ["c"])
        }
    }

    @Test
    func `Collections are paged in byte order`() async throws {
        try await fixture.withStore { store in
            for id in ["c", "B", "a", "é"] { try await store.set("\(id)/d", [:]) }
            let first = try await store.collections(under: nil, after: nil, limit: 3)
            #expect(first.collections.map(\.key.string) == ["B", "a", "c"])
            let second = try await store.collections(under: nil, after: first.next, limit: 3)
            #expect(second.collections.map(\.key.string) == ["é"])
            #expect(second.next == nil)
        }
    }

    @Test
    func `Empty folders and ignored files are not collections`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try fixture.folder.write("x", to: "data/documents/notes/readme.txt")
            try fixture.folder.write("x", to: "data/documents/notes/deep/er/readme.txt")
            #expect(try await store.collections() == ["c"])
            #expect(try await store.list("notes", includingMissing: true).ids.isEmpty)
        }
        #expect(fixture.folder.exists("data/documents/notes/readme.txt"))
    }
}
