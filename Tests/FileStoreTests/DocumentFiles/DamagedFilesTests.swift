import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@Suite("Damaged files", .tags(.crash))
struct DamagedFilesTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        arguments: [
            ("", 1, 1), ("{\n  \"title\": \"half", 2, 17), ("not JSON", 1, 2), ("{\"n\":1}\n", 1, 1),
            ("{\n\"a\": [[1]],\n\"$document\": {}}", 3, 14),
        ]
    )
    func `A damaged file is reported with its location, and other documents are listed`(
        contents: String,
        line: Int,
        column: Int
    ) async throws {
        try await fixture.withStore { store in
            for id in ["a", "c"] { try await store.set("books/\(id)", [:]) }
            try fixture.folder.write(contents, to: "data/documents/books/b.json")
            let error = await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("books/b")) }
            #expect(error?.file == StatusError.FileLocation(path: "documents/books/b.json", line: line, column: column))
            #expect(error?.path == "books/b")
            let page = try await store.list("books")
            #expect(page.ids == ["a", "c"])
            #expect(page.damaged.map(\.file?.path) == ["documents/books/b.json"])
            #expect(try fixture.folder.text(of: "data/documents/books/b.json") == contents)
        }
    }

    @Test(
        arguments: [
            (#"{"a": "b"#, 9, "the string that starts at line 1, column 7 is not closed"),
            ("{\"a\":\n  [1, 2", 8, "the array that starts at line 2, column 3 is not closed"),
            (#"{"a": "b""#, 10, "the object that starts at line 1, column 1 is not closed"),
        ]
    )
    func `A truncated file is reported with the unclosed value`(contents: String, column: Int, message: String) async throws {
        try await fixture.withStore { store in
            try fixture.folder.write(contents, to: "data/documents/books/b.json")
            let error = await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("books/b")) }
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
            #expect(error?.file?.column == column)
        }
    }

    @Test
    func `A damaged document cannot be written or deleted`() async throws {
        try await fixture.withStore { store in
            try fixture.folder.write("{", to: "data/documents/books/b.json")
            await expectStatus(.dataLoss) { try await store.set("books/b", [:]) }
            await expectStatus(.dataLoss) { try await store.delete("books/b") }
            #expect(try fixture.folder.text(of: "data/documents/books/b.json") == "{")
            try fixture.folder.remove("data/documents/books/b.json")
            try await store.set("books/b", [:])
        }
    }

    @Test
    func `Damaged files are reported on the page of their ID`() async throws {
        try await fixture.withStore { store in
            for id in ["a", "c"] { try await store.set("books/\(id)", [:]) }
            try fixture.folder.write("{", to: "data/documents/books/b.json")
            try fixture.folder.write("{", to: "data/documents/books/b%41.json")
            let first = try await store.list("books", limit: 2)
            #expect(first.ids == ["a"] && first.next?.key == "b")
            #expect(Set(first.damaged.map(\.file?.path)) == ["documents/books/b.json", "documents/books/b%41.json"])
            let second = try await store.list("books", after: "b", limit: 2)
            #expect(second.ids == ["c"] && second.damaged.isEmpty)
        }
    }

    @Test
    func `Other files and temporary files are ignored`() async throws {
        let names = ["notes.txt", "b.json~", ".b.json.swp", ".b.tmp", "b.tmp", "README"]
        try await fixture.withStore { store in
            try await store.set("books/a", [:])
            for name in names { try fixture.folder.write("x", to: "data/documents/books/\(name)") }
            let page = try await store.list("books")
            #expect(page.ids == ["a"] && page.damaged.isEmpty)
        }
        try await fixture.withStore { _ in }
        for name in names { #expect(fixture.folder.exists("data/documents/books/\(name)")) }
    }

    @Test
    func `A symbolic link in place of a document is not followed`() async throws {
        try await fixture.withStore { store in
            try await store.set("books/a", ["secret": .boolean(true)])
            try fixture.folder.write("outside", to: "outside.json")
            try fixture.folder.link("data/documents/books/b.json", to: fixture.folder["outside.json"])
            try fixture.folder.link("data/documents/books/c.json", to: "a.json")
            for id in ["b", "c"] {
                let error = await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("books/\(id)")) }
                #expect(error?.path == "books/\(id)")
                await expectStatus(.dataLoss) { try await store.set("books/\(id)", [:]) }
                await expectStatus(.dataLoss) { try await store.delete("books/\(id)") }
            }
            let page = try await store.list("books")
            #expect(page.ids == ["a"])
            #expect(Set(page.damaged.map(\.path)) == ["books/b", "books/c"])
        }
        #expect(try fixture.folder.text(of: "outside.json") == "outside")
    }

    @Test(arguments: ["books", "books/a", "books/a/sub"])
    func `A symbolic link in place of a folder is not followed`(folder: String) async throws {
        try await fixture.withStore { store in
            try await store.set("books/a/sub/b", [:])
            try fixture.folder.write("{}", to: "outside/b.json")
            try fixture.folder.remove("data/documents/\(folder)")
            try fixture.folder.link("data/documents/\(folder)", to: fixture.folder["outside"])
            let path = folder == "books" ? "books/b" : "books/a/sub/b"
            await expectStatus(.failedPrecondition) { try await store.document(at: DocumentPath(path)) }
            await expectStatus(.failedPrecondition) { try await store.set(path, [:]) }
            await expectStatus(.failedPrecondition) { try await store.delete(path) }
            // The parent collection is listed, so that the link can be found.
            #expect(try await store.collections() == (folder == "books" ? [] : ["books"]))
        }
        #expect(try fixture.folder.text(of: "outside/b.json") == "{}")
    }

    @Test
    func `A symbolic link to the moved original folder is not followed, even if its documents are cached`() async throws {
        try await fixture.withStore { store in
            try await store.set("books/a", [:])
            #expect(try await store.document(at: DocumentPath("books/a")) != nil)
            try FileManager.default.moveItem(atPath: fixture.folder["data/documents/books"], toPath: fixture.folder["moved"])
            try fixture.folder.link("data/documents/books", to: fixture.folder["moved"])
            await expectStatus(.failedPrecondition) { try await store.document(at: DocumentPath("books/a")) }
        }
    }

    @Test
    func `A file in place of a collection folder is an error with its path`() async throws {
        try await fixture.withStore { store in
            try fixture.folder.write("x", to: "data/documents/books")
            let error = await expectStatus(.failedPrecondition) { try await store.set("books/a", [:]) }
            #expect(error?.message.contains("documents/books") == true)
            #expect(error?.message.contains(fixture.folder.path) == false)
            try await store.set("other/a", [:])
        }
    }

    @Test
    func `A folder, a pipe or a huge file in place of a document is reported without blocking`() async throws {
        try await fixture.withStore { store in
            try await store.set("books/a", [:])
            try FileManager.default.createDirectory(
                atPath: fixture.folder["data/documents/books/folder.json"],
                withIntermediateDirectories: true
            )
            #expect(mkfifo(fixture.folder["data/documents/books/pipe.json"], 0o600) == 0)
            try fixture.folder.write("", to: "data/documents/books/huge.json")
            #expect(truncate(fixture.folder["data/documents/books/huge.json"], 1 << 40) == 0)
            let paths = ["books/folder", "books/huge", "books/pipe"]
            for path in paths {
                let error = await expectStatus(.dataLoss) { try await store.document(at: DocumentPath(path)) }
                #expect(error?.path == path)
                await expectStatus(.dataLoss) { try await store.set(path, [:]) }
            }
            let page = try await store.list("books")
            #expect(page.ids == ["a"])
            #expect(page.damaged.compactMap(\.path).sorted() == paths)
        }
    }
}
