import DocumentModel
import Foundation
import HTTPTypes
import HearthAPI
import Logging
import Testing

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
