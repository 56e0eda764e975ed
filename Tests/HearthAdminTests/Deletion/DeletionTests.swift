import DocumentModel
import DocumentStore
import Foundation
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Deletion")
struct DeletionTests {
    private static func writes() throws -> [Write] {
        try ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/2", "a/3/b/only", "other/1"].map {
            .create(try DocumentPath($0), ["n": .integer(1)])
        }
    }

    /// Returns the paths of all documents.
    private func paths(_ site: TestSite) async throws -> [String] {
        var found: [String] = []
        for id in ["a", "other"] {
            try await Subtree(context: site.pages.context).visit(CollectionPath(id)) { batch throws(StatusError) in
                found += batch.documents.map(\.path.string)
                return batch.documents.map(\.path)
            }
        }
        return found.sorted()
    }

    @Test(arguments: ["a/2", "a/1"])
    func `A document is deleted without its subcollections and can be restored by the undo button`(path: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/\(path)?delete")
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]")
            let first = await site.post("/admin/data/\(path)?delete", form.text)
            // The same form once more is answered as the first time.
            let response = await site.post("/admin/data/\(path)?delete", form.text)
            #expect(response.status == .seeOther && response.headers == first.headers)
            #expect(try await paths(site).contains(path) == false)
            #expect(try await paths(site).count == 5)
            let cookie = try #require(response.headers[.setCookie]).prefix { $0 != ";" }
            let after = try HTMLPage(await site.get("/admin/data/\(path)", cookies: [String(cookie)]).body)
            let undo = try BrowserForm(after, "//div[@class='flash']//form")
            #expect(await site.post("/admin/data/\(path)?restore", undo.text).status == .seeOther)
            #expect(try await paths(site).contains(path))
        }
    }

    @Test
    func `Deleting selected documents without a selection says so`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.post("/admin/data/books?delete", "selected=1")
            #expect(response.status == .seeOther)
            let cookie = try #require(response.headers[.setCookie]?.prefix { $0 != ";" })
            let page = try HTMLPage(await site.get("/admin/data/books", cookies: [String(cookie)]).body)
            #expect(try page.one("//*[@class='flash warning']").text.contains("Select at least one document."))
        }
    }

    @Test
    func `Subcollections are counted, and deleted on request`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/a/1?delete")
            #expect(try page.one("//legend").text == "This document has subcollections with 2 documents.")
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]").with(["below": "yes"])
            #expect(
                await site.post("/admin/data/a/1?delete", form.text).headers[.setCookie]?.hasPrefix("flash=deleted-many.3.")
                    == true
            )
            #expect(try await paths(site) == ["a/2", "a/3/b/only", "other/1"])
        }
    }

    @Test
    func `A document that was changed after the confirmation page was shown is kept`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try BrowserForm(await site.page("/admin/data/a/2?delete"), "//form[contains(@class,'entry')]")
            _ = try await site.store.commit([.set(try DocumentPath("a/2"), [:])])
            #expect(await site.post("/admin/data/a/2?delete", form.text).status == .unprocessableContent)
            #expect(try await paths(site).count == 6)
        }
    }

    @Test(arguments: ["", "A", "a ", "other", "a"])
    func `A collection is deleted with its subcollections when its name is typed`(typed: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/a?delete")
            #expect(try page.one("//*[@id='main']").text.contains("5 documents"))
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]").with(["name": typed])
            let response = await site.post("/admin/data/a?delete", form.text)
            #expect(response.status == (typed == "a" ? .seeOther : .unprocessableContent))
            #expect(
                try await paths(site)
                    == (typed == "a" ? ["other/1"] : ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/2", "a/3/b/only", "other/1"])
            )
        }
    }

    /// Returns the confirmation form for selected rows of a table.
    private func selection(_ ids: [String], _ site: TestSite, in collection: String = "a") async throws -> BrowserForm {
        let boxes = try await site.page("/admin/data/\(collection)").all("//input[@name='row']").compactMap { $0["value"] }
        let rows = boxes.filter { value in ids.contains { value.hasPrefix("\($0):") } }
        #expect(rows.count == ids.count)
        let asked = await site.post("/admin/data/\(collection)?delete", rows.map { "row=\($0)" }.joined(separator: "&"))
        #expect(asked.status == .ok)
        return try BrowserForm(HTMLPage(asked.body), "//form[contains(@class,'entry')]")
    }

    @Test
    func `Selected documents are deleted after confirmation`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await selection(["1", "2"], site)
            #expect(try await paths(site).count == 6)
            #expect(await site.post("/admin/data/a?delete", form.text).status == .seeOther)
            #expect(try await paths(site) == ["a/1/b/x", "a/1/b/y/c/z", "a/3/b/only", "other/1"])
        }
    }

    /// Returns the undo button of the message that a response sets.
    private func undo(_ response: PageResponse, _ site: TestSite) async throws -> (url: String, form: BrowserForm) {
        let cookie = try #require(response.headers[.setCookie]).prefix { $0 != ";" }
        let page = try HTMLPage(
            await site.get(try #require(response.headers[.location]), cookies: [String(cookie)]).body
        )
        let url = try #require(try page.one("//div[@class='flash']//form")["action"])
        return (url, try BrowserForm(page, "//div[@class='flash']//form"))
    }

    /// Returns the number in each document at a path.
    private func numbers(_ site: TestSite, _ paths: [String]) async throws -> [Value?] {
        var numbers: [Value?] = []
        for path in paths { numbers.append(try await site.store.document(at: DocumentPath(path))?.decoded().fields["n"]) }
        return numbers
    }

    @Test
    func `The deletion of many documents can be undone, and that again`() async throws {
        try await TestSite.with(Self.writes()) { site in
            _ = try await site.store.commit([.set(try DocumentPath("a/2"), ["n": .integer(2)])])
            let all = try await paths(site)
            let form = try BrowserForm(await site.page("/admin/data/a?delete"), "//form[contains(@class,'entry')]")
            let deleted = try await undo(site.post("/admin/data/a?delete", form.with(["name": "a"]).text), site)
            #expect(try await paths(site) == ["other/1"])
            let restored = await site.post(deleted.url, deleted.form.text)
            #expect(restored.headers[.setCookie]?.hasPrefix("flash=restored-many.5.") == true)
            #expect(try await paths(site) == all)
            #expect(try await numbers(site, ["a/1", "a/2", "a/1/b/y/c/z"]) == [.integer(1), .integer(2), .integer(1)])
            // The button of the finished job is gone.
            let job = try await site.page(deleted.url)
            #expect(try job.all("//input[@value='undo']").isEmpty)
            #expect(try job.texts("//p[@class='report']/a").first == "This was undone")
            let again = try await undo(restored, site)
            #expect(await site.post(again.url, again.form.text).status == .seeOther)
            #expect(try await paths(site) == ["other/1"])
        }
    }

    @Test
    func `Undoing a deletion leaves documents that were created again, and names them`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await selection(["1", "2"], site)
            let deleted = try await undo(site.post("/admin/data/a?delete", form.text), site)
            _ = try await site.store.commit([.create(try DocumentPath("a/2"), ["n": .integer(7)])])
            let response = await site.post(deleted.url, deleted.form.text)
            let page = try await site.page(try #require(response.headers[.location]))
            #expect(page.parseErrors == [])
            #expect(try page.one("//p[@class='job-count']").text == "1 document restored")
            #expect(try page.texts("//section[@aria-labelledby='kept']//a") == ["a/2"])
            #expect(try page.one("//section[@aria-labelledby='kept']/p").text.hasPrefix("1 document was written since then"))
            #expect(try await numbers(site, ["a/1", "a/2"]) == [.integer(1), .integer(7)])
        }
    }

    @Test
    func `Undoing a deletion restores what the filters found, from the journal`() async throws {
        try await TestSite.with(Self.numbers()) { site in
            let address = "/admin/data/n?delete=found&where=n%20%3D%3D%201"
            let form = try BrowserForm(await site.page(address), "//form[contains(@class,'entry')]")
            let deleted = try await undo(site.post(address, form.text), site)
            _ = try await site.store.commit([.create(try DocumentPath("n/other"), ["n": .integer(1)])])
            #expect(await site.post(deleted.url, deleted.form.text).status == .seeOther)
            #expect(try await Subtree(context: site.pages.context).estimate(of: try CollectionPath("n")).count == 251)
        }
    }

    @Test
    func `Undoing requires write permission, a token and a job with changes`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try await selection(["1"], site)
            let deleted = try await undo(site.post("/admin/data/a?delete", form.text), site)
            let reader = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            #expect(await site.post(deleted.url, deleted.form.text, as: reader).status == .notFound)
            #expect(await site.post(deleted.url, "do=undo&form-token=x").status == .unprocessableContent)
            #expect(await site.post("/admin/jobs/none", deleted.form.text).status == .notFound)
            #expect(try await numbers(site, ["a/1"]) == [nil])
        }
    }

    @Test
    func `A selected document that was changed after the table was shown is kept with its subcollections`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let boxes = try await site.page("/admin/data/a").all("//input[@name='row']").compactMap { $0["value"] }
            _ = try await site.store.commit([.set(try DocumentPath("a/1"), ["n": .integer(2)])])
            let asked = await site.post("/admin/data/a?delete", boxes.map { "row=\($0)" }.joined(separator: "&"))
            let form = try BrowserForm(HTMLPage(asked.body), "//form[contains(@class,'entry')]").with(["below": "yes"])
            let response = await site.post("/admin/data/a?delete", form.text)
            #expect(try await paths(site) == ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/3/b/only", "other/1"])
            let page = try await site.page(try #require(response.headers[.location]))
            #expect(page.parseErrors == [])
            #expect(try page.one("//p[@class='job-count']").text == "1 document deleted")
            #expect(try page.texts("//section[@aria-labelledby='kept']//a") == ["a/1"])
        }
    }

    @Test(arguments: ["1", "1:", "1:x", ":1", "%zz:1"])
    func `Rows without a valid version are rejected`(row: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let encoded = row.replacing("%", with: "%25")
            #expect(await site.post("/admin/data/a?delete", "row=\(encoded)&confirmed=yes&at=1").status == .badRequest)
            let left = try await paths(site)
            #expect(left.count == 6)
        }
    }

    private static func numbers() throws -> [Write] {
        try (0..<250).map { .create(try DocumentPath("n/d\($0)"), ["n": .integer(Int64($0 % 2))]) }
    }

    @Test
    func `The documents that match filters are deleted after confirmation, and no others`() async throws {
        try await TestSite.with(Self.numbers()) { site in
            let address = "/admin/data/n?delete=found&where=n%20%3D%3D%201"
            let page = try await site.page(address)
            #expect(try page.one("//*[@id='main']").text.contains("125 documents"))
            #expect(await site.get("/admin/data/n?delete&where=n%20%3D%3D%201").status == .notFound)
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]")
            #expect(await site.post(address, form.text).headers[.setCookie]?.hasPrefix("flash=deleted-many.125.") == true)
            #expect(try await Subtree(context: site.pages.context).estimate(of: try CollectionPath("n")).count == 125)
        }
    }

    @Test
    func `The documents of a large collection with subcollections are counted in the index`() async throws {
        let writes = try (0..<1_200).map { try Write.create(DocumentPath($0 < 1_100 ? "n/d\($0)" : "n/d1/sub/d\($0)"), [:]) }
        try await TestSite.with(writes + [.create(DocumentPath("o/1"), [:])]) { site in
            let page = try await site.page("/admin/data/n?delete")
            #expect(try page.one("//*[@id='main']").text.contains("contain 1,200 documents."))
            let (_, text) = try await site.keys.create(.init(role: .writer, collections: [CollectionPath("n")]))
            let caller = try site.keys.authenticate(Array(text.utf8))
            let restricted = try HTMLPage(await site.get("/admin/data/n?delete", as: caller).body)
            #expect(try restricted.one("//*[@id='main']").text.contains("contain 1,200 documents."))
        }
    }

    @Test(arguments: [Int.min, -1, 1_000_001, .max])
    func `A confirmed count out of range is rejected`(count: Int) async throws {
        try await TestSite.with(Self.numbers()) { site in
            let address = "/admin/data/n?delete=found&where=n%20%3D%3D%201"
            let form = try BrowserForm(await site.page(address), "//form[contains(@class,'entry')]")
            #expect(await site.post(address, form.with(["confirmed": "\(count)"]).text).status == .badRequest)
            #expect(try await Subtree(context: site.pages.context).estimate(of: try CollectionPath("n")).count == 250)
        }
    }

    @Test
    func `Documents that match after the confirmation page are kept, and those that no longer match are reported`() async throws {
        try await TestSite.with(Self.numbers()) { site in
            let address = "/admin/data/n?delete=found&where=n%20%3D%3D%201"
            let form = try BrowserForm(await site.page(address), "//form[contains(@class,'entry')]")
            _ = try await site.store.commit([
                .create(try DocumentPath("n/new"), ["n": .integer(1)]),
                .set(try DocumentPath("n/d1"), ["n": .integer(1), "m": .null]),
                .set(try DocumentPath("n/d3"), ["n": .integer(2)]),
                .delete(try DocumentPath("n/d5")),
            ])
            let response = await site.post(address, form.text)
            let page = try await site.page(try #require(response.headers[.location]))
            #expect(page.parseErrors == [])
            #expect(try page.one("//p[@class='job-count']").text == "122 documents deleted")
            #expect(try page.texts("//section[@aria-labelledby='kept']//a") == ["n/d1", "n/new"])
            #expect(try page.one("//*[@id='main']").text.contains("1 document no longer matches"))
            #expect(try await Subtree(context: site.pages.context).estimate(of: try CollectionPath("n")).count == 128)
        }
    }

    @Test
    func `Documents that are written after the confirmation page are kept with their subcollections`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try BrowserForm(await site.page("/admin/data/a?delete"), "//form[contains(@class,'entry')]")
            _ = try await site.store.commit([.set(try DocumentPath("a/1"), [:]), .create(try DocumentPath("a/3/b/new"), [:])])
            let response = await site.post("/admin/data/a?delete", form.with(["name": "a"]).text)
            let page = try await site.page(try #require(response.headers[.location]))
            #expect(try page.texts("//section[@aria-labelledby='kept']//a") == ["a/1", "a/3/b/new"])
            #expect(try await paths(site) == ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/3/b/new", "other/1"])
        }
    }

    @Test
    func `The subcollections of a missing document can be deleted`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/a/3?delete")
            #expect(page.parseErrors == [])
            #expect(
                try page.one("//*[@id='main']").text.contains(
                    "This document doesn’t exist. Its subcollections will be deleted: 1 document."
                )
            )
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]")
            let response = await site.post("/admin/data/a/3?delete", form.text)
            #expect(response.headers[.setCookie]?.hasPrefix("flash=deleted-many.1.") == true)
            #expect(try await paths(site).contains("a/3/b/only") == false)
        }
    }

    @Test
    func `Damaged files are listed before and after, and are kept with their subcollections`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let file = site.folder.appending(path: "documents/a/1.json")
            try Data("{".utf8).write(to: file)
            let page = try await site.page("/admin/data/a?delete")
            #expect(page.parseErrors == [])
            #expect(try page.texts("//section[@class='alert']//li//code") == ["documents/a/1.json:1:2"])
            let form = try BrowserForm(page, "//form[contains(@class,'entry')]").with(["name": "a"])
            let response = await site.post("/admin/data/a?delete", form.text)
            let result = try await site.page(try #require(response.headers[.location]))
            #expect(try result.texts("//ul[@class='item-errors']/li/code") == ["documents/a/1.json"])
            #expect(FileManager.default.fileExists(atPath: file.path))
            for (path, exists) in [("a/1/b/x", true), ("a/2", false), ("a/3/b/only", false)] {
                let document = try await site.store.document(at: try DocumentPath(path))
                #expect((document != nil) == exists, "\(path)")
            }
        }
    }

    @Test
    func `Deletion requires write permission`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let reader = try site.keys.authenticate(Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            for form in ["name=a", "row=1:1&confirmed=yes&at=9", ""] {
                for address in ["/admin/data/a?delete", "/admin/data/a/1?delete", "/admin/data/a/1?restore"] {
                    #expect(await site.post(address, form + "&version=1", as: reader).status == .forbidden)
                }
            }
            #expect(try await paths(site).count == 6)
        }
    }
}
