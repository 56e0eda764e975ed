import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Editor of one value")
struct ValueEditorTests {
    private static let path = "a/1"
    private static let fields: MapValue = [
        "title": .string("old"), "count": .integer(1),
        "nested": .map(["list": .array([.integer(1), .map(["x.y": .boolean(true)])])]),
    ]

    private static func writes() throws -> [Write] { [.create(try DocumentPath(path), fields)] }

    private func stored(_ site: TestSite) async throws -> MapValue? {
        try await site.store.document(at: DocumentPath(Self.path))?.decoded().fields
    }

    private func address(_ value: String) -> String {
        "/admin/data/a/1?value=" + PercentEncoding.encode(UTF8Key(value))
    }

    private func form(_ site: TestSite, _ value: String) async throws -> BrowserForm {
        let page = try await site.page(address(value))
        #expect(page.parseErrors == [])
        return try BrowserForm(page)
    }

    @Test
    func `Every value of a document has a link to its editor, and containers to that of the document`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let links = try await site.page("/admin/data/a/1").all("//a[@class='edit-value']").compactMap { $0["href"] }
            #expect(links.count == 7)
            for link in links {
                let response = await site.get(link)
                let isContainer = ["nested", "list", "%5B1%5D"].contains { link.hasSuffix($0) }
                #expect(response.status == (isContainer ? .seeOther : .ok), "\(link)")
                guard let location = response.headers[.location] else { continue }
                #expect(try await site.page(location).all("//ul[@class='rows']//*[@autofocus]").count == 1)
            }
            let cells = try await site.page("/admin/data/a?cells=filters").all("//td//a[@class='edit-value']").map { $0["href"] }
            #expect(cells.contains("/admin/data/a/1?value=title"))
        }
    }

    @Test(
        arguments: [
            ("title", "string", "new"), ("nested.list[0]", "double", "2.5"), ("nested.list[1].`x.y`", "null", ""),
        ] as [(String, String, String)]
    )
    func `A value is changed, with its type, wherever it is`(path: String, type: String, text: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await form(site, path).with(["r0-type": type, "r0-value": text])
            let response = await site.post(address(path), form.text)
            #expect(response.status == .seeOther)
            #expect(response.headers[.setCookie]?.hasPrefix("flash=saved.") == true)
            let expected: MapValue =
                switch type {
                case "string": Self.fields.adding(["title": .string("new")])
                case "double":
                    Self.fields.adding([
                        "nested": .map(["list": .array([.double(2.5), .map(["x.y": .boolean(true)])])])
                    ])
                default: Self.fields.adding(["nested": .map(["list": .array([.integer(1), .map(["x.y": .null])])])])
                }
            #expect(try await stored(site) == expected)
        }
    }

    @Test
    func `A change of another field is no conflict`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await form(site, "title").with(["r0-value": "mine"])
            _ = try await site.store.commit([.set(try DocumentPath(Self.path), Self.fields.adding(["count": .integer(2)]))])
            #expect(await site.post(address("title"), form.text).status == .seeOther)
            #expect(try await stored(site) == Self.fields.adding(["title": .string("mine"), "count": .integer(2)]))
        }
    }

    @Test
    func `A conflict shows the other value, and asks`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await form(site, "title").with(["r0-value": "mine"])
            _ = try await site.store.commit([.set(try DocumentPath(Self.path), Self.fields.adding(["title": .string("theirs")]))])
            let response = await site.post(address("title"), form.text)
            #expect(response.status == .conflict)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//div[@class='alert']").text.contains("theirs"))
            #expect(try await stored(site)?["title"] == .string("theirs"))
            let again = try BrowserForm(page)
            #expect(again["r0-value"] == "mine")
            #expect(await site.post(address("title"), again.text).status == .seeOther)
            #expect(try await stored(site)?["title"] == .string("mine"))
        }
    }

    @Test
    func `Another type shows its fields, and invalid input is marked`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await form(site, "count")
            let types = await site.post(address("count"), form.with(["r0-type": "geo-point", "do": "types"]).text)
            #expect(types.status == .ok)
            #expect(try HTMLPage(types.body).all("//input[@id='r0-more']").count == 1)
            let invalid = await site.post(address("count"), form.with(["r0-value": "x"]).text)
            #expect(invalid.status == .unprocessableContent)
            let rejected = try HTMLPage(invalid.body)
            #expect(try rejected.one("//*[@aria-invalid='true']")["id"] == "r0-value")
            // The error is stated once, and the value keeps the focus.
            #expect(try rejected.one("//main//*[@autofocus]")["id"] == "r0-value")
            #expect(try rejected.all("//*[@id='problems']").isEmpty)
            for (name, value) in [("r0-type", "map"), ("base", "x"), ("shown", "{"), ("r0-depth", "x")] {
                #expect(await site.post(address("count"), form.with([name: value]).text).status == .badRequest)
            }
            #expect(try await stored(site) == Self.fields)
        }
    }

    @Test
    func `A missing field, a missing document and a reader have no editor`() async throws {
        try await TestSite.with(Self.writes()) { site in
            #expect(await site.get(address("none")).status == .notFound)
            #expect(await site.get(address("nested.list[7]")).status == .notFound)
            #expect(await site.get("/admin/data/a/2?value=title").status == .notFound)
            let reader = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            #expect(await site.get(address("title"), as: reader).status == .forbidden)
            let page = try HTMLPage(await site.get("/admin/data/a/1", as: reader).body)
            #expect(try page.all("//a[@class='edit-value']").isEmpty)
        }
    }
}
