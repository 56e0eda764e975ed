import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("History of a damaged document")
struct DamagedHistoryTests {
    private let path: DocumentPath
    private static let damage = Data("{\n  \"n\": 2,,\n}\n".utf8)

    init() throws {
        path = try DocumentPath("a/b")
    }

    /// Runs `body` with a document of two versions whose file was then damaged.
    private func withDamage(_ body: (TestSite, URL) async throws -> Void) async throws {
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            _ = try await site.store.commit([.set(path, ["n": .integer(2)])])
            let file = site.folder.appending(path: "documents/a/b.json")
            try Self.damage.write(to: file)
            try await body(site, file)
        }
    }

    @Test
    func `The page shows the retained versions and the error of the file`() async throws {
        try await withDamage { site, _ in
            let response = await site.get("/admin/data/a/b?history")
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.texts("//ol[@class='history']/li/header/p") == ["changed", "created"])
            #expect(try page.one("//section[@class='alert']/p[1]").text == "documents/a/b.json, line 2, column 10")
            #expect(try page.all("//ol//form").count == 2, "the newest version differs from the file")
            let link = try await site.page("/admin/data/a/b").one("//section[@aria-labelledby='repair']//a")
            #expect(link["href"] == "/admin/data/a/b?history")
        }
    }

    @Test(arguments: [1, 2])
    func `Restoring any version replaces the damaged file`(version: Int) async throws {
        try await withDamage { site, file in
            let form = try BrowserForm(await site.page("/admin/data/a/b?history"), "//ol/li[\(3 - version)]//form")
            let response = await site.post("/admin/data/a/b?restore", form.text)
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == "/admin/data/a/b")
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(Int64(version))])
            #expect(try Data(contentsOf: file) != Self.damage)
            let history = try await site.page("/admin/data/a/b?history")
            #expect(try history.texts("//ol[@class='history']/li/header/p").count == 3)
            #expect(try history.all("//section[@class='alert']").isEmpty)
            #expect(await site.get("/admin/data/a/b?edit").status == .ok)
        }
    }

    @Test(arguments: ["{", "{\"n\": 3}"])
    func `A file that changed after the form was shown is not replaced`(text: String) async throws {
        try await withDamage { site, file in
            let form = try BrowserForm(await site.page("/admin/data/a/b?history"), "//ol/li[1]//form")
            try Data(text.utf8).write(to: file)
            let response = await site.post("/admin/data/a/b?restore", form.text)
            #expect(response.status == .conflict)
            #expect(try HTMLPage(response.body).all("//*[@id='problems']").count == 1)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test
    func `A path occupied by something other than a file is not replaced`() async throws {
        try await withDamage { site, file in
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: site.folder)
            let page = try await site.page("/admin/data/a/b?history")
            #expect(try page.texts("//ol[@class='history']/li/header/p").count == 2)
            #expect(try page.all("//ol//form").isEmpty)
        }
    }

    @Test
    func `A document without commits has no history`() async throws {
        try await TestSite.with([.create(path, [:])]) { site in
            try Data("{".utf8).write(to: site.folder.appending(path: "documents/a/c.json"))
            let response = await site.get("/admin/data/a/c?history")
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(try page.all("//p[@class='empty']").count == 1)
            #expect(try page.all("//section[@class='alert']").count == 1)
        }
    }
}
