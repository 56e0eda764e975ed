import DocumentModel
import DocumentStore
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("New documents")
struct NewDocumentTests {
    @Test(arguments: ["ada", "", "ü \u{202E}"])
    func `A document is created with the given ID, or with an automatic ID`(id: String) async throws {
        try await TestSite.with { site in
            let page = try await site.page("/admin/data/people?new")
            let form = try BrowserForm(page).with(["id": id, "r0-name": "name", "r0-value": "Ada", "do": "save"])
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

    @Test(arguments: ["ada", ""])
    func `A form that is sent twice makes one document, and one with other contents another`(id: String) async throws {
        try await TestSite.with { site in
            let fields: KeyValuePairs = ["id": id, "r0-name": "name", "r0-value": "Ada", "do": "save"]
            let form = try BrowserForm(await site.page("/admin/data/people?new")).with(fields)
            let responses = [
                await site.post("/admin/data/people?new", form.text), await site.post("/admin/data/people?new", form.text),
            ]
            #expect(responses.map(\.status) == [.seeOther, .seeOther])
            #expect(responses[0].headers[.location] == responses[1].headers[.location])
            let collection = try CollectionPath("people")
            let made = try await site.store.documents(in: collection, after: nil, limit: 2, includingMissing: false)
            #expect(made.documents.count == 1)
            let other = await site.post("/admin/data/people?new", form.with(["r0-value": "Grace"]).text)
            #expect(other.status == (id.isEmpty ? .seeOther : .unprocessableContent))
        }
    }

    @Test(arguments: ["a/b", ".", "__x__", "taken"])
    func `An invalid or existing ID is reported beside the ID field`(id: String) async throws {
        try await TestSite.with([.create(DocumentPath("people/taken"), [:])]) { site in
            let form = try BrowserForm(await site.page("/admin/data/people?new")).with(["id": id, "r0-name": "a", "do": "save"])
            let response = await site.post("/admin/data/people?new", form.text)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(try page.all("//*[@id='id-error']").count == 1)
            #expect(try BrowserForm(page)["id"] == id)
        }
    }

    @Test(arguments: ["books/1", "books/missing", "ü \u{202E}/&=+"])
    func `A document's page leads to the first document of a new subcollection`(parent: String) async throws {
        try await TestSite.with([.create(DocumentPath("books/1"), [:])]) { site in
            let path = try DocumentPath(parent)
            let document = try HTMLPage(await site.get(AdminURL.document(path)).body)
            let url = try #require(try document.one("//p[@class='add-below']/a")["href"])
            let page = try await site.page(url)
            #expect(page.parseErrors == [])
            let form = try BrowserForm(page, "//form[.//input[@id='collection']]").with(["collection": "reviews"])
            let response = await site.post(url, form.text)
            #expect(response.headers[.location] == AdminURL.collection(path.collection(try CollectionID("reviews"))) + "?new")
            for invalid in ["a/b", "", "__x__"] {
                let rejected = await site.post(url, form.with(["collection": invalid]).text)
                #expect(rejected.status == .unprocessableContent)
                #expect(try HTMLPage(rejected.body).one("//input[@id='collection']")["aria-invalid"] == "true")
            }
        }
    }

    @Test
    func `The ID of a new subcollection that makes its path too long is reported beside it`() async throws {
        try await TestSite.with { site in
            let parent = try DocumentPath(
                (0..<5).map { "\($0)" + String(repeating: "x", count: 998) }.joined(separator: "/") + "/d"
            )
            let url = AdminURL.newSubcollection(of: parent)
            let page = try await site.page(url)
            #expect(try page.one("//title").text.hasPrefix("New subcollection · "))
            let form = try BrowserForm(page, "//form[.//input[@id='collection']]")
            let rejected = await site.post(url, form.with(["collection": String(repeating: "x", count: 1_400)]).text)
            #expect(rejected.status == .unprocessableContent)
            #expect(try HTMLPage(rejected.body).one("//input[@id='collection']")["aria-invalid"] == "true")
        }
    }

    @Test
    func `The editor of a copy contains the fields of the original`() async throws {
        let fields: MapValue = ["a": .double(-0.0), "b": .array([.string("\r")])]
        try await TestSite.with([.create(DocumentPath("people/first"), fields)]) { site in
            let form = try BrowserForm(await site.page("/admin/data/people?new&from=first")).with(["id": "second", "do": "save"])
            #expect(await site.post("/admin/data/people?new&from=first", form.text).status == .seeOther)
            let path = try DocumentPath("people/second")
            #expect(try await site.store.document(at: path)?.decoded().fields == fields)
        }
    }
}
