import DocumentModel
import DocumentStore
import FileStore
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Document history")
struct HistoryTests {
    @Test
    func `Each version lists its changes with sign, path and type`() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1), "m": .map(["x": .string("old")])])]) { site in
            _ = try await site.store.commit([
                .set(path, ["n": .string("1"), "m": .map(["x": .string("old"), "y": .null]), "l": .array([])])
            ])
            _ = try await site.store.commit([.delete(path)])
            let page = try await site.page("/admin/data/a/b?history")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//ol[@class='history']/li/header/p") == ["deleted", "changed", "created"])
            let lines = try page.texts("//ol/li[2]//ul[@class='changes']/li").map { text in
                text.split(separator: " ").joined(separator: " ")
            }
            #expect(lines == ["+added l array empty", "+added m.y null null", "−removed n integer 1", "+added n string 1"])
        }
    }

    @Test
    func `Restoring a version fails if the document has changed since the form was shown`() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            _ = try await site.store.commit([.set(path, ["n": .integer(2)])])
            let form = try BrowserForm(await site.page("/admin/data/a/b?history"), "//ol//form")
            _ = try await site.store.commit([.set(path, ["n": .integer(3)])])
            #expect(await site.post("/admin/data/a/b?restore", form.text).status == .conflict)
            #expect(try await site.store.history(of: path, before: nil, limit: 10).versions.count == 3)
        }
    }

    @Test
    func `A form that is sent twice restores a version once`() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            _ = try await site.store.commit([.set(path, ["n": .integer(2)])])
            let form = try BrowserForm(await site.page("/admin/data/a/b?history"), "//ol//form")
            for _ in 0..<2 {
                #expect(await site.post("/admin/data/a/b?restore", form.text).status == .seeOther)
                #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
            }
            #expect(try await site.store.history(of: path, before: nil, limit: 10).versions.count == 3)
        }
    }

    @Test
    func `A save can be undone`() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            let form = try BrowserForm(await site.page("/admin/data/a/b?edit")).with(["r0-value": "2", "do": "save"])
            let first = await site.post("/admin/data/a/b?edit", form.text)
            // The same form once more is answered as the first time.
            let saved = await site.post("/admin/data/a/b?edit", form.text)
            #expect(saved.status == .seeOther && saved.headers == first.headers)
            let cookie = try #require(saved.headers[.setCookie]).prefix { $0 != ";" }
            let page = try HTMLPage(await site.get("/admin/data/a/b", cookies: [String(cookie)]).body)
            _ = await site.post("/admin/data/a/b?restore", try BrowserForm(page, "//div[@class='flash']//form").text)
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
        }
    }

    @Test(
        arguments: ["", "x", "1", "99999999999999999999", "-1"]
    )
    func `An invalid version restores nothing`(text: String) async throws {
        try await TestSite.with([.create(DocumentPath("a/b"), [:])]) { site in
            let response = await site.post("/admin/data/a/b?restore", "version=\(text)&current=")
            #expect(response.status == .badRequest || response.status == .conflict)
        }
    }
}
