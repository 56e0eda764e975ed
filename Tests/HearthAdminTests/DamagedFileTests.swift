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

    @Test("A collection lists them with file, line and column, beside the documents that can be read")
    func collection() async throws {
        try await withDamage { site in
            let page = try await site.page("/admin/data/books")
            #expect(page.complaints == [])
            #expect(try page.texts("//section[@class='alert']//li//code") == ["documents/books/hitchhiker.json:2:26"])
            #expect(try page.one("//section[@class='alert']//li/a")["href"] == "/admin/data/books/hitchhiker")
            #expect(try page.all("//tbody/tr").count == 4)
            try GoldenFile.check(page, "collection-damaged.html")
        }
    }

    @Test(
        "A document's page says what is wrong with its file, where, and how to mend it",
        arguments: ["/admin/data/books/hitchhiker", "/admin/data/books/hitchhiker?view=json"]
    )
    func document(address: String) async throws {
        try await withDamage { site in
            let response = await site.get(address)
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.complaints == [])
            #expect(
                try page.one("//section[@class='alert']/p[1]").text == "documents/books/hitchhiker.json, line 2, column 26"
            )
            #expect(try page.all("//section[@aria-labelledby='mend']//li").count == 3)
            #expect(try page.texts("//nav[@aria-label='Breadcrumb']//a") == ["books", "hitchhiker"])
            #expect(!page.source.contains(site.folder.lastPathComponent), "the page names the machine's own folder")
            try GoldenFile.check(page, "document-damaged.html")
        }
    }

    @Test(
        "What is to be done with a damaged document is answered with its page",
        arguments: ["books/hitchhiker?edit", "books/hitchhiker?delete", "books?new&from=hitchhiker"]
    )
    func actions(address: String) async throws {
        try await withDamage { site in
            let response = await site.get("/admin/data/\(address)")
            #expect(response.status == .conflict)
            let page = try HTMLPage(response.body)
            #expect(page.complaints == [])
            #expect(
                try page.one("//section[@class='alert']/p[1]").text == "documents/books/hitchhiker.json, line 2, column 26"
            )
            #expect(try page.all("//section[@aria-labelledby='mend']//li").count == 3)
            #expect(await site.post("/admin/data/books/hitchhiker?edit", "as=json&json=%7B%7D&base=&do=save").status == .conflict)
        }
    }

    @Test("Nothing is exported without what can't be read, unless that is asked for", arguments: ["", "&where=title%20!%3D%201"])
    func export(filter: String) async throws {
        try await withDamage { site in
            let address = "/admin/data/books?export=ndjson\(filter)"
            let response = await site.get(address)
            #expect(response.status == .conflict)
            let page = try HTMLPage(response.body)
            #expect(page.complaints == [])
            #expect(try page.texts("//section[@class='alert']//li//code") == ["documents/books/hitchhiker.json:2:26"])
            let links = try page.all("//p[@class='actions']/a").map { $0["href"] }
            #expect(links.first == address + "&damaged=leave")
            let file = await site.get(address + "&damaged=leave")
            #expect(file.status == .ok)
            var bytes: [UInt8] = []
            try await file.stream?.write { bytes += $0 }
            #expect(bytes.split(separator: UInt8(ascii: "\n")).count == 4)
        }
    }

    @Test("The collections below a damaged document can be reached from its page")
    func below() async throws {
        try await withDamage { site in
            _ = try await site.store.commit([.create(try DocumentPath("books/hitchhiker/reviews/r1"), [:])])
            let links = try await site.page("/admin/data/books/hitchhiker").all("//ul[@class='collections']//a")
            #expect(links.map { $0["href"] } == ["/admin/data/books/hitchhiker/reviews"])
        }
    }

    @Test("A file that was mended is a document again, and one that was moved away is none")
    func mended() async throws {
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

    @Test("A collection of many of them lists the first and says how many more there are")
    func many() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for number in 100..<160 {
                try Data("{".utf8).write(to: site.folder.appending(path: "documents/books/d\(number).json"))
            }
            let page = try await site.page("/admin/data/books?size=200")
            #expect(try page.all("//section[@class='alert']//li").count == 50)
            #expect(try page.one("//section[@class='alert']/p[2]").text == "And 10 more.")
        }
    }

    @Test("What is no collection is told of where collections are listed")
    func foreign() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let documents = site.folder.appending(path: "documents")
            try FileManager.default.createSymbolicLink(at: documents.appending(path: "<shop>"), withDestinationURL: documents)
            try FileManager.default.createDirectory(
                at: documents.appending(path: "books/hitchhiker/%zz"),
                withIntermediateDirectories: true
            )
            for (address, place) in [
                ("/admin/", "documents/<shop>"), ("/admin/data/books/hitchhiker", "documents/books/hitchhiker/%zz"),
            ] {
                let page = try await site.page(address)
                #expect(page.complaints == [])
                #expect(try page.texts("//section[@class='alert']//li//code") == [place])
                #expect(!page.source.contains(site.folder.lastPathComponent), "the page names the machine's own folder")
            }
            #expect(try await site.page("/admin/data/books/guide").all("//section[@class='alert']").isEmpty)
            try GoldenFile.check(await site.page("/admin/"), "overview-damaged.html")
        }
    }

    @Test("A database with nothing but that is not called empty")
    func onlyForeign() async throws {
        try await TestSite.with { site in
            try Data().write(to: site.folder.appending(path: "documents/top.json"))
            let page = try await site.page("/admin/")
            #expect(try page.all("//section[@class='alert']//li").count == 1)
            #expect(try page.all("//section[@class='first']").isEmpty)
        }
    }

    @Test("A file that is none as a whole is named without line and column")
    func wholeFile() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let file = site.folder.appending(path: "documents/books/link.json")
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: site.folder)
            let code = try await site.page("/admin/data/books").texts("//section[@class='alert']//li//code")
            #expect(code == ["documents/books/link.json"])
            let page = try await site.page("/admin/data/books/link")
            #expect(try page.one("//section[@class='alert']/p[1]").text == "documents/books/link.json")
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
