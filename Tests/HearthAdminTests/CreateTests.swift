import DocumentModel
import DocumentStore
import HTTPTypes
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("New documents")
struct CreateTests {
    @Test("One is created with an ID of its own, or with one that nobody has chosen", arguments: ["ada", "", "ü \u{202E}"])
    func create(id: String) async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/data/people?new")
            let form = try SentForm(page).with(["id": id, "r0-name": "name", "r0-value": "Ada", "do": "save"])
            let response = await site.post("/admin/data/people?new", form.text)
            #expect(response.status == .seeOther)
            let location = try #require(response.headers[.location])
            let collection = try CollectionPath("people")
            let made = try #require(
                try await site.store.documents(in: collection, after: nil, limit: 2, includingMissing: false).documents.first
            )
            #expect(location == AdminURL.document(made.path))
            #expect(made.path.id.key == UTF8Key(id) || (id.isEmpty && made.path.id.key.byteCount == 20))
        }
    }

    @Test("An ID that can't be, or that is taken, is said so beside it", arguments: ["a/b", ".", "__x__", "taken"])
    func badID(id: String) async throws {
        try await TestSite.with([.create(DocumentPath("people/taken"), [:])]) { site in
            let form = try SentForm(await site.page("/admin/data/people?new")).with(["id": id, "r0-name": "a", "do": "save"])
            let response = await site.post("/admin/data/people?new", form.text)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(try page.all("//*[@id='id-fault']").count == 1)
            #expect(try SentForm(page)["id"] == id)
        }
    }

    @Test("A copy begins with what the other holds")
    func duplicate() async throws {
        let fields: MapValue = ["a": .double(-0.0), "b": .array([.string("\r")])]
        try await TestSite.with([.create(DocumentPath("people/first"), fields)]) { site in
            let form = try SentForm(await site.page("/admin/data/people?new&from=first")).with(["id": "second", "do": "save"])
            #expect(await site.post("/admin/data/people?new&from=first", form.text).status == .seeOther)
            let path = try DocumentPath("people/second")
            #expect(try await site.store.document(at: path)?.decoded().fields == fields)
        }
    }
}
