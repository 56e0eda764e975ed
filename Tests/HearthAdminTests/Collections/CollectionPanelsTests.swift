import DocumentModel
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Panels")
struct CollectionPanelsTests {
    @Test
    func `Documents are beside the fields of the selected one, with links that stay in the panels`() async throws {
        let writes = try GuideData.writes() + [.create(try DocumentPath("books/hitchhiker/reviews/1"), ["stars": .integer(5)])]
        try await TestSite.with(writes) { site in
            let table = try await site.page("/admin/data/books?size=25")
            let url = try #require(try table.all("//nav[@class='views']//a[text()='Panels']").first?["href"])
            let none = try await site.page(url)
            #expect(none.parseErrors == [])
            #expect(try none.texts("//p[contains(@class,'panel')]") == ["Select a document."])
            let link = try #require(try none.all("//nav[@class='panel']//a[.='hitchhiker']").first?["href"])
            let page = try await site.page(link)
            #expect(page.parseErrors == [])
            #expect(try page.one("//nav[@class='panel']//a[@aria-current]").text == "hitchhiker")
            #expect(try page.one("//section[contains(@class,'panel')]/h2/a")["href"] == "/admin/data/books/hitchhiker")
            #expect(try page.texts("//table[@class='fields']//span[@class='name']").contains("title"))
            #expect(try page.one("//*[@id='live']")["data-stream"]?.hasPrefix("/admin/data/books/hitchhiker?live=") == true)
            let below = try #require(try page.all("//section[@class='below']//a").first?["href"])
            #expect(below == "/admin/data/books/hitchhiker/reviews?view=panels")
        }
    }

    @Test
    func `A document that is gone leaves the others`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?view=panels&document=nobody")
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            let note = try page.one("//section[contains(@class,'panel')]/p[@class='empty']")
            #expect(note.text == "This document doesn’t exist, or can’t be read.")
            #expect(try page.all("//nav[@class='panel']//li").count > 2)
        }
    }
}
