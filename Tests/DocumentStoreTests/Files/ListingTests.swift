import DocumentModel
import DocumentStore
import StrictJSON
import TestSupport
import Testing

@Suite("Collections are listed")
struct ListingTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("Documents come in the order of their IDs: numeric ones first, then by bytes")
    func order() async throws {
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

    @Test("Pages follow each other without gap or repeat", arguments: [1, 2, 3, 7, 8, 100])
    func paging(limit: Int) async throws {
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

    @Test("A page begins behind an ID that is not there, too")
    func pageAfterMissingID() async throws {
        try await fixture.withStore { store in
            for id in ["a", "c"] { try await store.set("c/\(id)", [:]) }
            #expect(try await store.list("c", after: "b").ids == ["c"])
            #expect(try await store.list("c", after: "z").ids.isEmpty)
            #expect(try await store.list("none").ids.isEmpty)
        }
    }

    @Test("Documents that only have documents below them are listed when asked for")
    func missingParents() async throws {
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

    @Test("A collection exists exactly when there is a document in it or below it")
    func collections() async throws {
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

    @Test("A collection is there for as long as any file of it is, whoever takes them away")
    func collectionsOfFiles() async throws {
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

    @Test("Collections come in pages, in the order of their bytes")
    func collectionPages() async throws {
        try await fixture.withStore { store in
            for id in ["c", "B", "a", "é"] { try await store.set("\(id)/d", [:]) }
            let first = try await store.collections(under: nil, after: nil, limit: 3)
            #expect(first.collections.map(\.key.string) == ["B", "a", "c"])
            let second = try await store.collections(under: nil, after: first.next, limit: 3)
            #expect(second.collections.map(\.key.string) == ["é"])
            #expect(second.next == nil)
        }
    }

    @Test("Empty folders, and files that are no documents', make no collection")
    func foreignFolders() async throws {
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
