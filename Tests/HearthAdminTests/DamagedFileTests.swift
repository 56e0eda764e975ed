import DocumentModel
import Foundation
import HTTPTypes
import Testing

@testable import HearthAdmin

@Suite("Damaged files")
struct DamagedFileTests {
    private func withDamage(_ body: (TestSite) async throws -> Void) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let file = site.folder.appending(path: "documents/books/hitchhiker.json")
            try Data("{\n  \"title\": \"The <Guide>\",,\n}\n".utf8).write(to: file)
            try await body(site)
        }
    }

    @Test("A collection lists them with file, line and column, beside the documents that can be read")
    func collection() async throws {
        try await withDamage { site in
            let page = try await site.page("/admin/data/books")
            #expect(page.complaints == [])
            #expect(try page.texts("//section[@class='alert']//li/code") == ["documents/books/hitchhiker.json:2:26"])
            #expect(try page.all("//tbody/tr").count == 4)
            try GoldenFile.check(page, "collection-damaged.html")
        }
    }

    @Test("A document's page says what is wrong with its file and where")
    func document() async throws {
        try await withDamage { site in
            let response = await site.get("/admin/data/books/hitchhiker")
            #expect(response.status == .internalServerError)
            let page = try HTMLPage(response.body)
            #expect(page.complaints == [])
            #expect(try page.texts("//main//code").contains("documents/books/hitchhiker.json:2:26"))
            #expect(try page.texts("//nav[@aria-label='Breadcrumb']//a") == ["books", "hitchhiker"])
            try GoldenFile.check(page, "problem-damaged.html")
        }
    }

    @Test("The overview and other pages don't mind")
    func others() async throws {
        try await withDamage { site in
            for address in ["/admin/", "/admin/data/books/hitchhiker-tags", "/admin/data/books?view=map"] {
                #expect(await site.get(address).status == .ok)
            }
        }
    }
}
