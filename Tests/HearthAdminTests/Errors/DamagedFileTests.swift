import DocumentModel
import DocumentStore
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

    @Test
    func `A collection lists damaged files with line and column, and the readable documents`() async throws {
        try await withDamage { site in
            let page = try await site.page("/admin/data/books")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//section[@class='alert']//li//code") == ["documents/books/hitchhiker.json:2:26"])
            #expect(try page.one("//section[@class='alert']//li/a")["href"] == "/admin/data/books/hitchhiker")
            #expect(try page.all("//tbody/tr").count == 4)
            try GoldenFile.check(page, "collection-damaged.html")
        }
    }

    @Test(
        arguments: ["/admin/data/books/hitchhiker", "/admin/data/books/hitchhiker?view=json"]
    )
    func `A document's page shows the error of its file, its position and ways to repair it`(url: String) async throws {
        try await withDamage { site in
            let response = await site.get(url)
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(
                try page.one("//section[@class='alert']/p[1]").text == "documents/books/hitchhiker.json, line 2, column 26"
            )
            #expect(try page.all("//section[@aria-labelledby='repair']//li").count == 3)
            #expect(try page.texts("//nav[@aria-label='Breadcrumb']//a") == ["books", "hitchhiker"])
            #expect(!page.source.contains(site.folder.lastPathComponent), "the page reveals the path of the data folder")
            try GoldenFile.check(page, "document-damaged.html")
        }
    }

    @Test(
        arguments: ["books/hitchhiker?edit", "books/hitchhiker?delete", "books?new&from=hitchhiker"]
    )
    func `A request to change a damaged document returns the page of the damage`(url: String) async throws {
        try await withDamage { site in
            let response = await site.get("/admin/data/\(url)")
            #expect(response.status == .conflict)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(
                try page.one("//section[@class='alert']/p[1]").text == "documents/books/hitchhiker.json, line 2, column 26"
            )
            #expect(try page.all("//section[@aria-labelledby='repair']//li").count == 3)
            #expect(await site.post("/admin/data/books/hitchhiker?edit", "as=json&json=%7B%7D&base=&do=save").status == .conflict)
        }
    }

    @Test(arguments: ["", "&where=title%20!%3D%201"])
    func `An export with unreadable documents requires confirmation`(filter: String) async throws {
        try await withDamage { site in
            let url = "/admin/data/books?export=ndjson\(filter)"
            let response = await site.get(url)
            #expect(response.status == .conflict)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.texts("//section[@class='alert']//li//code") == ["documents/books/hitchhiker.json:2:26"])
            let links = try page.all("//p[@class='actions']/a").map { $0["href"] }
            #expect(links.first == url + "&damaged=leave")
            let file = await site.get(url + "&damaged=leave")
            #expect(file.status == .ok)
            var bytes: [UInt8] = []
            try await file.stream?.write { bytes += $0 }
            #expect(bytes.split(separator: UInt8(ascii: "\n")).count == 4)
        }
    }

    @Test
    func `The page of a damaged document links to its subcollections`() async throws {
        try await withDamage { site in
            _ = try await site.store.commit([.create(try DocumentPath("books/hitchhiker/reviews/r1"), [:])])
            let links = try await site.page("/admin/data/books/hitchhiker").all("//ul[@class='collections']//a")
            #expect(links.map { $0["href"] } == ["/admin/data/books/hitchhiker/reviews"])
        }
    }

    @Test
    func `A repaired file is readable again, and a removed file is a missing document`() async throws {
        try await withDamage { site in
            let file = site.folder.appending(path: "documents/books/hitchhiker.json")
            let text = try String(
                contentsOf: site.folder.appending(path: "documents/books/hitchhiker-tags.json"),
                encoding: .utf8
            )
            try Data(text.utf8).write(to: file)
            #expect(try await site.page("/admin/data/books/hitchhiker").all("//table[@class='fields']").count == 1)
            try FileManager.default.removeItem(at: file)
            #expect(await site.get("/admin/data/books/hitchhiker").status == .notFound)
        }
    }

    @Test
    func `A collection with many damaged files lists the first and counts the others`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for number in 100..<160 {
                try Data("{".utf8).write(to: site.folder.appending(path: "documents/books/d\(number).json"))
            }
            let page = try await site.page("/admin/data/books?size=200")
            #expect(try page.all("//section[@class='alert']//li").count == 50)
            #expect(try page.one("//section[@class='alert']/p[2]").text == "And 10 more.")
        }
    }

    @Test
    func `A folder that is not a collection is reported in lists of collections`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let documents = site.folder.appending(path: "documents")
            try FileManager.default.createSymbolicLink(at: documents.appending(path: "<shop>"), withDestinationURL: documents)
            try FileManager.default.createDirectory(
                at: documents.appending(path: "books/hitchhiker/%zz"),
                withIntermediateDirectories: true
            )
            for (url, location) in [
                ("/admin/", "documents/<shop>"), ("/admin/data/books/hitchhiker", "documents/books/hitchhiker/%zz"),
            ] {
                let page = try await site.page(url)
                #expect(page.parseErrors == [])
                #expect(try page.texts("//section[@class='alert']//li//code") == [location])
                #expect(!page.source.contains(site.folder.lastPathComponent), "the page reveals the path of the data folder")
            }
            #expect(try await site.page("/admin/data/books/guide").all("//section[@class='alert']").isEmpty)
            try GoldenFile.check(await site.page("/admin/"), "overview-damaged.html")
        }
    }

    @Test
    func `A database with only foreign files is not reported as empty`() async throws {
        try await TestSite.with { site in
            try Data().write(to: site.folder.appending(path: "documents/top.json"))
            let page = try await site.page("/admin/")
            #expect(try page.all("//section[@class='alert']//li").count == 1)
            #expect(try page.all("//section[@class='first']").isEmpty)
        }
    }

    @Test
    func `An error without a position shows no line and column`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let file = site.folder.appending(path: "documents/books/link.json")
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: site.folder)
            let code = try await site.page("/admin/data/books").texts("//section[@class='alert']//li//code")
            #expect(code == ["documents/books/link.json"])
            let page = try await site.page("/admin/data/books/link")
            #expect(try page.one("//section[@class='alert']/p[1]").text == "documents/books/link.json")
        }
    }

    @Test
    func `Other pages are unaffected`() async throws {
        try await withDamage { site in
            for url in ["/admin/", "/admin/data/books/hitchhiker-tags", "/admin/data/books?view=map"] {
                #expect(await site.get(url).status == .ok)
            }
        }
    }
}
