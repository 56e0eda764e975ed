import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@Suite("Document files")
struct DocumentFilesTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `A document is a readable JSON file with no other files beside it`() async throws {
        try await fixture.withStore { store throws in
            let time = try await store.set("books/hitchhiker", ["title": .string("Guide"), "numberOfPages": .integer(816)])
                .commitTime
            try await store.set("books/hitchhiker/reviews/r1", ["stars": .integer(5)])
            let text = try fixture.folder.text(of: "data/documents/books/hitchhiker.json")
            #expect(
                text == """
                    {
                      "numberOfPages": 816,
                      "title": "Guide",
                      "$document": {
                        "createTime": "\(time)",
                        "updateTime": "\(time)"
                      }
                    }

                    """
            )
            #expect(try fixture.folder.names(in: "data/documents/books") == ["hitchhiker", "hitchhiker.json"])
            #expect(try fixture.folder.names(in: "data/documents/books/hitchhiker/reviews") == ["r1.json"])
        }
        #expect(try fixture.folder.names(in: "data") == ["documents", "hearth.json", "hearth.lock", "index.sqlite", "journal"])
    }

    @Test(arguments: ["data", "data/documents/c", "data/journal"])
    func `Files and folders are not accessible to others than their owner and group`(folder: String) async throws {
        try await fixture.withStore { store throws in _ = try await store.set("c/d", [:]) }
        #expect(try mode(of: folder) & 0o707 == 0o700)
        #expect(try mode(of: "data/documents/c/d.json") & 0o707 == 0o600)
    }

    @Test
    func `Deleting the last document removes only the folders that become empty`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("a/b/c/d/e/f", [:])
            try await store.set("a/z", [:])
            try await store.delete("a/b/c/d/e/f")
            #expect(try fixture.folder.names(in: "data/documents/a") == ["z.json"])
            try await store.delete("a/z")
            #expect(try fixture.folder.names(in: "data/documents").isEmpty)
            try await store.set("a/z", [:])
            #expect(try await store.fields("a/z") == [:])
        }
    }

    @Test
    func `Edits to a file are read, and are the basis of the next write`() async throws {
        try await fixture.withStore { store throws in
            try await store.set("c/d", ["n": .integer(1), "m": .integer(1)])
            #expect(try await store.fields("c/d")?["n" as UTF8Key] == .integer(1))
            let text = try fixture.folder.text(of: "data/documents/c/d.json")
            try fixture.folder.write(text.replacingOccurrences(of: "\"n\": 1", with: "\"n\": 42"), to: "data/documents/c/d.json")
            #expect(try await store.fields("c/d")?["n" as UTF8Key] == .integer(42))
            _ = try await store.commit([.update(DocumentPath("c/d"), [(FieldPath("m"), .integer(2))])])
            #expect(try await store.fields("c/d") == ["n": .integer(42), "m": .integer(2)])
            try fixture.folder.remove("data/documents/c/d.json")
            #expect(try await store.document(at: DocumentPath("c/d")) == nil)
        }
    }

    @Test(
        arguments: [
            ".hidden", ".hearth-1.tmp", "a.json", "a", ".hearth-id.json", "hearth.json", "%2e%2e", "..%2f..", "a\u{338}",
            "e\u{301}", "\u{e9}",
            "-rf", "a\nb", "\u{202e}txt.exe", "CON", "a b", "\\..\\..", "~", "*",
        ]
    )
    func `IDs that look like paths, hidden files or the store's own files have separate files`(id: String) async throws {
        try await fixture.withStore { store throws in
            let outer = CollectionPath(parent: nil, id: try CollectionID(id)).document(try DocumentPath.ID(id))
            let inner = outer.collection(try CollectionID(id)).document(outer.id)
            for (path, value) in [(outer, 1), (inner, 2)] as [(DocumentPath, Int64)] {
                _ = try await store.commit([.create(path, ["n": .integer(value)])])
            }
            #expect(try await store.document(at: outer)?.decoded().fields == ["n": .integer(1)])
            #expect(try await store.document(at: inner)?.decoded().fields == ["n": .integer(2)])
            #expect(try await store.list(id).ids == [id])
            #expect(try await store.collections() == [id])
        }
        #expect(try fixture.folder.contents(of: "data/documents").count == 2)
        #expect(try fixture.folder.names() == ["data"])
    }

    @Test
    func `An ID too long for a file name is stored in the file`() async throws {
        let long = String(repeating: "ж", count: 700)
        let twin = String(repeating: "ж", count: 699) + "з"
        try await fixture.withStore { store in
            for id in [long, twin] { try await store.set("\(id)/\(id)/\(id)/\(id)", ["id": .string(id)]) }
        }
        try await fixture.withStore { store throws in
            for id in [long, twin] {
                #expect(try await store.fields("\(id)/\(id)/\(id)/\(id)") == ["id": .string(id)])
                #expect(try await store.list(id, includingMissing: true).ids == ["(\(id))"])
                #expect(try await store.collections(under: "\(id)/\(id)") == [id])
                #expect(try await store.list("\(id)/\(id)/\(id)").ids == [id])
            }
            #expect(try await store.collections() == [long, twin])
            for id in [long, twin] { try await store.delete("\(id)/\(id)/\(id)/\(id)") }
            #expect(try fixture.folder.names(in: "data/documents").isEmpty)
        }
    }

    private func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.folder[path])
        return try #require(attributes[.posixPermissions] as? Int)
    }
}
