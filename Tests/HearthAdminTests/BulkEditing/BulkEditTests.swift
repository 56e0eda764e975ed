import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Editing of many documents")
struct BulkEditTests {
    private static func writes() throws -> [Write] {
        try (0..<60).map { .create(try DocumentPath("n/d\($0)"), ["n": .integer(Int64($0 % 2)), "old": .string("x")]) }
    }

    private func fields(_ site: TestSite, _ id: String) async throws -> MapValue? {
        try await site.store.document(at: DocumentPath("n/\(id)"))?.decoded().fields
    }

    /// Returns the number of documents that match a filter.
    private func count(_ site: TestSite, _ filter: String) async throws -> Int {
        let request = try CollectionRequest(path: CollectionPath("n"), query: URLQuery("where=\(filter)"))
        return try await site.pages.context.count(CollectionQuery(request).query, upTo: 1_000).number
    }

    private func form(_ page: HTMLPage) throws -> BrowserForm {
        #expect(page.parseErrors == [])
        return try BrowserForm(page, "//form[contains(@class,'bulk-edit')]")
    }

    /// Returns the form for selected rows of the table.
    private func selection(_ ids: [String], _ site: TestSite) async throws -> BrowserForm {
        let boxes = try await site.page("/admin/data/n?size=100").all("//input[@name='row']").compactMap { $0["value"] }
        let rows = boxes.filter { value in ids.contains { value.hasPrefix("\($0):") } }
        #expect(rows.count == ids.count)
        let response = await site.post("/admin/data/n?edit", rows.map { "row=\($0)" }.joined(separator: "&"))
        #expect(response.status == .ok)
        return try form(HTMLPage(response.body))
    }

    /// Presses the button of the message that a response sets.
    private func undo(_ response: PageResponse, _ site: TestSite) async throws -> PageResponse {
        let cookie = try #require(response.headers[.setCookie]).prefix { $0 != ";" }
        let page = try HTMLPage(await site.get(try #require(response.headers[.location]), cookies: [String(cookie)]).body)
        let url = try #require(try page.one("//div[@class='flash']//form")["action"])
        return await site.post(url, try BrowserForm(page, "//div[@class='flash']//form").text)
    }

    @Test(
        arguments: [
            ("auto", "7", .integer(7)), ("string", "7", .string("7")),
            ("JSON", #"{"a": [1]}"#, .map(["a": .array([.integer(1)])])),
            ("null", "", .null),
        ] as [(String, String, Value)]
    )
    func `A field of selected documents is set, and the change undone`(type: String, text: String, value: Value) async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await selection(["d1", "d2"], site).with(["field": "n", "t": type, "v": text])
            let response = await site.post("/admin/data/n?edit", form.text)
            #expect(response.headers[.setCookie]?.hasPrefix("flash=edited-many.2.") == true)
            #expect(try await fields(site, "d1") == ["n": value, "old": .string("x")])
            #expect(try await fields(site, "d3")?["n"] == .integer(1))
            let undone = try await undo(response, site)
            #expect(undone.headers[.setCookie]?.hasPrefix("flash=restored-many.2.") == true)
            #expect(try await fields(site, "d1") == ["n": .integer(1), "old": .string("x")])
            #expect(try await fields(site, "d2") == ["n": .integer(0), "old": .string("x")])
        }
    }

    @Test
    func `A field of all documents that match filters is changed, also if they don't match afterward`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let address = "/admin/data/n?edit=found&where=n%20%3D%3D%201"
            let page = try await site.page(address)
            #expect(try page.one("//*[@id='main']").text.contains("One field of 30 documents will be changed."))
            let form = try form(page).with(["field": "n", "v": "2"])
            let response = await site.post(address, form.text)
            #expect(response.headers[.setCookie]?.hasPrefix("flash=edited-many.30.") == true)
            #expect(try await count(site, "n%20%3D%3D%202") == 30)
            #expect(try await count(site, "n%20%3D%3D%200") == 30)
            _ = try await undo(response, site)
            #expect(try await count(site, "n%20%3D%3D%201") == 30)
        }
    }

    @Test
    func `A field of a whole collection is removed`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let address = "/admin/data/n?edit=found"
            let form = try form(await site.page(address)).with(["field": "old", "action": "remove"])
            #expect(await site.post(address, form.text).status == .seeOther)
            #expect(try await fields(site, "d1") == ["n": .integer(1)])
            #expect(try await count(site, "old%20%3D%3D%20%22x%22") == 0)
        }
    }

    @Test
    func `Documents that were written since are kept, those that are as requested are counted, and undo leaves later changes`()
        async throws
    {
        try await TestSite.with(Self.writes()) { site in
            let address = "/admin/data/n?edit=found"
            let form = try form(await site.page(address)).with(["field": "n", "v": "1"])
            _ = try await site.store.commit([.set(try DocumentPath("n/d0"), ["n": .integer(9)])])
            let response = await site.post(address, form.text)
            let location = try #require(response.headers[.location])
            let page = try await site.page(location)
            #expect(try page.one("//p[@class='job-count']").text == "29 documents changed")
            #expect(try page.texts("//section[@aria-labelledby='kept']//a") == ["n/d0"])
            #expect(try page.one("//*[@id='main']").text.contains("30 documents already were as requested."))
            _ = try await site.store.commit([.set(try DocumentPath("n/d2"), ["n": .integer(8)])])
            let undone = await site.post(location, try BrowserForm(page, "//form[contains(@class,'report')]").text)
            let result = try await site.page(try #require(undone.headers[.location]))
            #expect(try result.one("//p[@class='job-count']").text == "28 documents restored")
            #expect(try result.texts("//section[@aria-labelledby='kept']//a") == ["n/d2"])
            #expect(try await fields(site, "d2") == ["n": .integer(8)])
            #expect(try await fields(site, "d4")?["n"] == .integer(0))
        }
    }

    @Test(
        arguments: [
            (["field": "", "v": "1"], "field"), (["field": "a..b", "v": "1"], "field"),
            (["field": "__name__", "v": "1"], "field"),
            (["field": "n", "t": "integer", "v": "x"], "v"), (["field": "n", "t": "JSON", "v": "{"], "v"),
        ] as [(KeyValuePairs<String, String>, String)]
    )
    func `Invalid input is kept and marked`(input: KeyValuePairs<String, String>, invalid: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let address = "/admin/data/n?edit=found"
            let empty = try await site.page(address)
            #expect(try empty.one("//main//*[@autofocus]")["id"] == "field")
            let form = try form(empty).with(input)
            let response = await site.post(address, form.text)
            #expect(response.status == .unprocessableContent)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//*[@aria-invalid='true']")["id"] == invalid)
            #expect(try page.one("//main//*[@autofocus]")["id"] == "problems")
            #expect(try self.form(page)["v"] == form["v"])
            #expect(try await count(site, "old%20%3D%3D%20%22x%22") == 60)
        }
    }

    @Test
    func `The table offers the changes of all documents, unless it shows all or is sorted`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let links = "//*[@class='all-matching']/a"
            let filtered = try await site.page("/admin/data/n?size=25&where=n%20%3D%3D%201").all(links).map { $0["href"] ?? "" }
            #expect(
                filtered == ["/admin/data/n?edit=found&where=n%20%3D%3D%201", "/admin/data/n?delete=found&where=n%20%3D%3D%201"]
            )
            #expect(
                try await site.page("/admin/data/n?size=25").all(links).map { $0["href"] } == [
                    "/admin/data/n?edit=found", "/admin/data/n?delete",
                ]
            )
            #expect(try await site.page("/admin/data/n?size=100").all(links).isEmpty)
            #expect(try await site.page("/admin/data/n?size=25&order=n").all(links).isEmpty)
            #expect(await site.get("/admin/data/n?edit=found&order=n").status == .notFound)
        }
    }

    @Test
    func `It requires write permission and a selection`() async throws {
        try await TestSite.with(Self.writes()) { site in
            #expect(
                await site.post("/admin/data/n?edit", "selected=1").headers[.setCookie]?.hasPrefix("flash=nothing-selected")
                    == true
            )
            #expect(await site.post("/admin/data/n?edit", "row=d1").status == .badRequest)
            #expect(await site.get("/admin/data/n?edit").status == .seeOther)
            let reader = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            #expect(await site.get("/admin/data/n?edit=found", as: reader).status == .forbidden)
            #expect(await site.post("/admin/data/n?edit", "row=d1:1", as: reader).status == .forbidden)
        }
    }
}
