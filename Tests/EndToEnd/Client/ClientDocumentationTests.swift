import Foundation
import HearthClient
import Testing

@Suite("Client documentation", .timeLimit(.minutes(10)))
struct ClientDocumentationTests {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()
    private static let catalog = here.appending(path: "../../../Sources/HearthClient/HearthClient.docc")

    /// Returns the non-empty lines without indentation.
    private func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func texts(in folder: URL, withExtension name: String) throws -> [(name: String, text: String)] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == name }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    @Test func `All examples are compiled`() throws {
        let compiled = try texts(in: Self.here.appending(path: "Snippets"), withExtension: "swift").map { lines($0.text) }
        let articles = try texts(in: Self.catalog, withExtension: "md")
        #expect(articles.count == 8)
        var count = 0
        for (name, text) in articles {
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let snippet = lines(block.components(separatedBy: "\n```")[0])
                #expect(compiled.contains { $0.contains(snippet) }, "\(name): \(snippet.first ?? "")")
                count += 1
            }
        }
        #expect(count >= 30)
    }

    @Test func `The examples run`() async throws {
        try await withGuide { db in
            let reference = db.document("books/hitchhiker")
            let book = try await MappingSnippets.read(db)
            #expect(book.id == "hitchhiker")
            #expect(try await MappingSnippets.readInvalid(db) == nil)
            #expect(try await MappingSnippets.readMany(db).map(\.name) == ["BASIC", "Swift", "TypeScript"])
            #expect(try await ChangeSnippets.write(db, reference) == 816 + 1 + 12 + 1)
            #expect(try await db.document("books/copy").getDocument(as: Book.self).numberOfPages == 817)
            let long = try await QuerySnippets.long(db)
            #expect(long.books.first?.id == "hitchhiker")
            #expect(try await QuerySnippets.next(long.query).isEmpty)
            let either = try await QuerySnippets.either(db).getDocuments()
            #expect(either.documents.map(\.documentID) == ["hitchhiker-genre", "hitchhiker"])
            #expect(try await QuerySnippets.reviews(db) == 0)
            let found = try await QuerySnippets.geoAndVectors(db)[0].getDocuments()
            #expect(found.documents.map(\.documentID) == ["googleHAM", "googleUK"])
            #expect(try await QuerySnippets.geoAndVectors(db)[1].getDocuments().isEmpty)
            #expect(MappingSnippets.remote(key: "k").settings.host == "data.example.org")
            #expect(OfflineSnippets.open().settings.cacheSettings is PersistentCacheSettings)
            #expect(CredentialSnippets.signIn(CredentialSnippets.Account()).settings.credential != nil)
        }
    }
}
