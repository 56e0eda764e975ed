import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Positions of pages")
struct PagePositionTests {
    /// 60 documents, whose field `n` descends from 159 to 100 in ID order.
    private static func writes() throws -> [Write] {
        try (100..<160).map { number in
            .create(try DocumentPath("many/d\(number)"), ["n": .integer(Int64(259 - number)), "even": .boolean(number % 2 == 0)])
        }
    }

    /// Requests a page, following one redirect.
    private func page(_ address: String, on site: TestSite) async throws -> HTMLPage {
        let response = await site.get(address)
        guard response.status == .seeOther else { return try HTMLPage(response.body) }
        return try await site.page(try #require(response.headers[.location]))
    }

    private func count(_ page: HTMLPage) throws -> String {
        try page.one("//header[@class='title']/p[@class='facts']").text
    }

    @Test(
        arguments: [
            ("", "1–25 of 60 documents", "d100"), ("after=d124&", "26–50 of 60 documents", "d125"),
            ("before=d150&", "26–50 of 60 documents", "d125"), ("position=51&", "51–60 of 60 documents", "d150"),
            ("position=%D9%A5%DB%B1&", "51–60 of 60 documents", "d150"), ("position=1&", "1–25 of 60 documents", "d100"),
            ("position=3&", "3–27 of 60 documents", "d102"), ("position=1,000&", "60–60 of 60 documents", "d159"),
            ("page=last&", "51–60 of 60 documents", "d150"), ("id=d111&", "12–36 of 60 documents", "d111"),
            ("id=d1115&", "13–37 of 60 documents", "d112"), ("id=a&", "1–25 of 60 documents", "d100"),
            // Queries know the position from the page before.
            ("order=n&", "1–25 of 60 documents", "d159"), ("order=n&page=last&", "51–60 of 60 documents", "d109"),
            ("order=n&position=3&", "3–27 of 60 documents", "d157"),
            ("where=even%20%3D%3D%20true&page=last&", "26–30 of 30 documents", "d150"),
            ("order=n&position=61&", "51–60 of 60 documents", "d109"),
            ("where=even%20%3D%3D%20true&position=3&", "3–27 of 30 documents", "d104"),
            ("order=n&after=%5B124%2C%22d135%22%5D&", "25 of 60 documents", "d134"),
        ]
    )
    func `A page says which of how many documents it shows`(items: String, text: String, first: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await page("/admin/data/many?\(items)size=25", on: site)
            #expect(page.parseErrors == [])
            #expect(try count(page) == text)
            #expect(try page.texts("//tbody/tr/th").first == first)
        }
    }

    @Test(
        arguments: [
            ("order=n", "1–50 of 2,500 documents", false), ("where=n%20%3E%3D%200&order=-n", "1–50 of 2,500 documents", false),
            ("where=even%20%3D%3D%20true&order=n", "1–50 of 1,250 documents", false),
            ("order=some", "1–50 of 1,250 documents", true),
            ("where=even%20%3D%3D%20true&order=some", "1–50 of 1,000+ documents", true),
            // These are too many to tell.
            ("where=n%20%3C%2020&order=few", "10 documents", true),
            ("where=few%20%3D%3D%20true&order=some", "10 documents", false),
        ]
    )
    func `Large results have the number that the index knows, and are said to lack documents only if they do`(
        items: String,
        text: String,
        isIncomplete: Bool
    ) async throws {
        let writes = try (0..<2_500).map { number in
            var fields: MapValue = ["n": .integer(Int64(number)), "even": .boolean(number % 2 == 0)]
            if number % 2 == 0 { fields["some"] = .integer(1) }
            if number < 20, number % 2 == 0 { fields["few"] = .boolean(true) }
            return try Write.create(DocumentPath("many/d\(number)"), fields)
        }
        try await TestSite.with(writes) { site in
            let page = try await site.page("/admin/data/many?\(items)")
            #expect(try count(page) == text)
            #expect(try page.all("//p[@class='note sorted']").isEmpty == !isIncomplete)
        }
    }

    @Test(arguments: ["", "order=n&", "where=even%20%3D%3D%20true&"])
    func `The links between pages keep the position`(items: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            var page = try await page("/admin/data/many?\(items)size=25", on: site)
            let start = try count(page)
            for relation in ["next", "prev"] {
                page = try await site.page(try #require(try page.one("//a[@rel='\(relation)']")["href"]))
            }
            #expect(try count(page) == start)
            let link = try page.all("//nav[@class='pages']/a").last { $0.text == "Last page" }
            let last = try #require(link?["href"])
            let end = try await self.page(last, on: site)
            #expect(try end.all("//a[@rel='next']").isEmpty)
            #expect(try end.all("//nav[@class='pages']/a[text()='Last page']").isEmpty)
        }
    }

    @Test(
        arguments: [
            "position=x", "position=0", "position=-3", "position=99999999999999999999", "id=..", "id=a/b",
            "order=n&position=2001", "order=n&id=d100",
        ]
    )
    func `Input that leads nowhere is reported beside the form`(items: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await site.get("/admin/data/many?\(items)")
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//form[@class='jump']/p[@id='jump-problem']").text != "")
            #expect(try page.one("//form[@class='jump']//input[@name='position']")["aria-describedby"] == "jump-problem")
        }
    }

    @Test
    func `A collection on one page has no form to go to a position`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books")
            #expect(try page.all("//form[@class='jump']").isEmpty)
            #expect(try count(page) == "5 documents")
        }
    }
}
