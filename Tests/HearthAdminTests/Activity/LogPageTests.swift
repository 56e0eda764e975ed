import HearthAPI
import Logging
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Log page")
struct LogPageTests {
    private static func entries(_ site: TestSite, _ query: String = "") async throws -> [String] {
        let page = try await site.page("/admin/log\(query)")
        #expect(page.parseErrors == [])
        return try page.texts("//ol[@class='log']/li").map {
            $0.split(separator: " ").dropFirst(3).joined(separator: " ")
        }
    }

    @Test
    func `Entries are filtered by level and by a text in the message or the details`() async throws {
        try await TestSite.with { site in
            let logger = Logger(label: "test") { [log = site.pages.context.server.log] _ in log.handler }
            logger.info("All is <well>", metadata: ["db.path": "Books/1"])
            logger.warning("Something is wrong", metadata: ["file": "books/2"])
            logger.error("Failed")
            let all = [
                "error Failed", "warning Something is wrong file=books/2", "info All is <well> db.path=Books/1",
            ]
            #expect(try await Self.entries(site) == all)
            #expect(try await Self.entries(site, "?level=info&q=") == all)
            #expect(try await Self.entries(site, "?level=x") == all)
            #expect(try await Self.entries(site, "?level=warning") == Array(all.prefix(2)))
            #expect(try await Self.entries(site, "?q=BOOKS") == Array(all.suffix(2)))
            #expect(try await Self.entries(site, "?level=notice&q=books%2F") == [all[1]])
            #expect(try await Self.entries(site, "?q=nothing").isEmpty)
            let page = try await site.page("/admin/log?level=error&q=%3Cb%3E")
            #expect(try page.one("//form[@class='log-filter']/input")["value"] == "<b>")
            #expect(try page.one("//form[@class='log-filter']//option[@selected]")["value"] == "error")
            #expect(try page.texts("//p[@class='empty']") == ["No log entries match."])
            #expect(try page.one("//a[text()='Show all']")["href"] == "/admin/log")
        }
    }
}
