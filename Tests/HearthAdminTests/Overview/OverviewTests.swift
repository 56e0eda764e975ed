import DocumentModel
import Foundation
import HTTPTypes
import HearthAPI
import Logging
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Overview")
struct OverviewTests {
    @Test
    func `Only admins see the latest log entries, newest first`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let logger = Logger(label: "test") { [log = site.pages.context.server.log] _ in log.handler }
            logger.info("All is <well>", metadata: ["store.sequence": "1"])
            logger.warning("Something is wrong")
            let page = try await site.page("/admin/")
            let lines = try page.texts("//ol[@class='log']/li").map {
                $0.split(separator: " ").dropFirst(3).joined(separator: " ")
            }
            #expect(lines == ["warning Something is wrong", "info All is <well> store.sequence=1"])
            #expect(try page.one("//ol[@class='log']//span[@class='type unusual']").text == "warning")
            let (_, text) = try await site.keys.create(.init(role: .writer))
            let caller = try site.keys.authenticate(Array(text.utf8))
            let other = try HTMLPage(await site.get("/admin/", as: caller).body)
            #expect(try other.all("//ol[@class='log']").isEmpty)
            #expect(try other.texts("//dl[@class='server']//dt").contains("Journal"))
        }
    }

    @Test
    func `The form of an empty database loads the example data once`() async throws {
        try await TestSite.with { site in
            let form = try BrowserForm(await site.page("/admin/"), "//form[@action='/admin/?load']")
            #expect(await site.get("/admin/?load").status == .methodNotAllowed)
            #expect(await site.post("/admin/?load", form.with(["form-token": "x"]).text).status == .badRequest)
            let unchanged = try await site.page("/admin/")
            #expect(try unchanged.all("//ul[@class='collections']").isEmpty)
            for _ in 1...2 {
                let response = await site.post("/admin/?load", form.text)
                #expect(response.status == .seeOther)
                #expect(response.headers[.location] == "/admin/")
            }
            let page = try await site.page("/admin/")
            #expect(
                try page.texts("//ul[@class='collections']/li") == [
                    "books 5 · 1,075 bytes", "colors 2 · 210 bytes", "locations 5 · 563 bytes",
                    "programming-languages 4 · 490 bytes",
                ]
            )
            #expect(try page.all("//form[@action='/admin/?load']").isEmpty)
        }
    }

    @Test
    func `The databases are linked for readers, except for keys restricted to collections`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for (collections, links) in [(nil, ["/admin/databases"]), ([try CollectionPath("books")], [])] {
                let (_, text) = try await site.keys.create(.init(role: .reader, collections: collections))
                let reader = try site.keys.authenticate(Array(text.utf8))
                let page = try HTMLPage(await site.get("/admin/", as: reader).body)
                #expect(try page.all("//p[@class='actions']/a").map { $0["href"] } == links)
                #expect(try page.all("//p[@class='actions']").count == links.count)
            }
        }
    }

    @Test
    func `Readers are not offered the example data and can't load it`() async throws {
        try await TestSite.with { site in
            let (_, text) = try await site.keys.create(.init(role: .reader))
            let reader = try site.keys.authenticate(Array(text.utf8))
            let page = try HTMLPage(await site.get("/admin/", as: reader).body)
            #expect(try page.texts("//section[@class='first']/h2") == ["The database is empty"])
            #expect(try page.all("//form[@action='/admin/?load']").isEmpty)
            let form = "form-token=\(TestSite.token(for: reader))"
            #expect(await site.post("/admin/?load", form, as: reader).status == .forbidden)
        }
    }

    @Test(arguments: [8, 9])
    func `More than eight collections are listed as a table`(count: Int) async throws {
        let writes = try (1...count).map { try Write.set(DocumentPath("c\($0)/1"), ["n": .integer(1)]) }
        try await TestSite.with(writes) { site in
            let page = try await site.page("/admin/")
            #expect(try page.all("//ul[@class='collections']/li").count == (count == 8 ? 8 : 0))
            #expect(try page.all("//table/tbody/tr").count == (count == 8 ? 0 : 9))
            guard count > 8 else { return }
            #expect(try page.texts("//table/tbody/tr[1]/*") == ["c1", "1", "63 bytes"])
            #expect(try page.one("//table/tbody/tr[1]/th/a")["href"] == "/admin/data/c1")
        }
    }

    @Test
    func `A banner warns while there are no keys, except in emulator mode`() async throws {
        try await TestSite.with { site in
            let unprotected = try await site.page("/admin/")
            #expect(try unprotected.one("//aside[@class='banner']//a")["href"] == "/admin/keys")
            let (_, text) = try await site.keys.create(.init(role: .admin))
            let admin = try site.keys.authenticate(Array(text.utf8))
            let page = try HTMLPage(await site.get("/admin/", as: admin).body)
            #expect(try page.all("//aside[@class='banner']").isEmpty)
        }
        try await TestSite.with(isEmulator: true) { site in
            let page = try await site.page("/admin/")
            #expect(try page.all("//aside[@class='banner']").isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `The data folder is to be copied only if the server makes no backups`(hasBackups: Bool) async throws {
        try await TestSite.with(GuideData.writes(), hasBackups: hasBackups) { site in
            let section = try await site.page("/admin/").one("//section[@aria-labelledby='backup']")
            #expect(section.text.contains("stop the server") == !hasBackups)
            let links = try await site.page("/admin/").all("//section[@aria-labelledby='backup']/p/a").map { $0["href"] }
            #expect(links == (hasBackups ? ["/admin/backups"] : []))
        }
    }

    @Test
    func `The backup command has the server's URL`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try HTMLPage(await site.get("/admin/", host: "db.example:8080").body)
            #expect(
                try page.one("//pre[@id='backup-command']").text
                    == "hearth export --server http://db.example:8080 --output backup.ndjson"
            )
        }
    }

    @Test
    func `A document's raw file is returned unchanged`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let file = site.folder.appending(path: "documents/books/hitchhiker.json")
            #expect(try await site.get("/admin/data/books/hitchhiker?view=file").body == [UInt8](Data(contentsOf: file)))
            for text in ["{\n\n  \"title\":   \"by hand\"}", "{ \"title\": \"<damaged>\",, \u{1}"] {
                try Data(text.utf8).write(to: file)
                let response = await site.get("/admin/data/books/hitchhiker?view=file")
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "application/json")
                #expect(response.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
                #expect(response.body == Array(text.utf8))
            }
            #expect(await site.get("/admin/data/books/nothing?view=file").status == .notFound)
            let damaged = try await site.page("/admin/data/books/hitchhiker")
            #expect(try damaged.one("//a[text()='View the raw file']")["href"] == "/admin/data/books/hitchhiker?view=file")
        }
    }
}
