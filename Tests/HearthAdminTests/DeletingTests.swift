import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("Deleting in the browser")
struct DeletingTests {
    private static func writes() throws -> [Write] {
        try ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/2", "a/3/b/only", "other/1"].map {
            .create(try DocumentPath($0), ["n": .integer(1)])
        }
    }

    /// The paths of all documents.
    private func paths(_ site: TestSite) async throws -> [String] {
        var found: [String] = []
        for id in ["a", "other"] {
            try await Subtree(context: site.pages.context).visit(CollectionPath(id)) { paths throws(StatusError) in
                found += paths.map(\.string)
                return true
            }
        }
        return found.sorted()
    }

    @Test("A document goes alone, and comes back by one button", arguments: ["a/2", "a/1"])
    func document(path: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/\(path)?delete")
            let form = try SentForm(page, "//form[contains(@class,'entry')]")
            let response = await site.post("/admin/data/\(path)?delete", form.text)
            #expect(response.status == .seeOther)
            #expect(try await paths(site).contains(path) == false)
            #expect(try await paths(site).count == 5)
            let cookie = try #require(response.headers[.setCookie]).prefix { $0 != ";" }
            let after = try HTMLPage(await site.get("/admin/data/\(path)", cookies: [String(cookie)]).body)
            let undo = try SentForm(after, "//div[@class='flash']//form")
            #expect(await site.post("/admin/data/\(path)?restore", undo.text).status == .seeOther)
            #expect(try await paths(site).contains(path))
        }
    }

    @Test("What is below it is counted, and goes with it when that is asked for")
    func below() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/a/1?delete")
            #expect(try page.one("//legend").text == "There are documents below this one: 2 documents.")
            let form = try SentForm(page, "//form[contains(@class,'entry')]").with(["below": "yes"])
            #expect(
                await site.post("/admin/data/a/1?delete", form.text).headers[.setCookie]?.hasPrefix("flash=deleted-many.3;")
                    == true
            )
            #expect(try await paths(site) == ["a/2", "a/3/b/only", "other/1"])
        }
    }

    @Test("A document that was changed after it was shown stays")
    func changed() async throws {
        try await TestSite.with(Self.writes()) { site in
            let form = try SentForm(await site.page("/admin/data/a/2?delete"), "//form[contains(@class,'entry')]")
            _ = try await site.store.commit([.set(try DocumentPath("a/2"), [:])])
            #expect(await site.post("/admin/data/a/2?delete", form.text).status == .unprocessableContent)
            #expect(try await paths(site).count == 6)
        }
    }

    @Test("A collection goes with all that is below, when its name was typed", arguments: ["", "A", "a ", "other", "a"])
    func collection(typed: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page("/admin/data/a?delete")
            #expect(try page.one("//*[@id='main']").text.contains("5 documents"))
            let form = try SentForm(page, "//form[contains(@class,'entry')]").with(["name": typed])
            let response = await site.post("/admin/data/a?delete", form.text)
            #expect(response.status == (typed == "a" ? .seeOther : .unprocessableContent))
            #expect(
                try await paths(site)
                    == (typed == "a" ? ["other/1"] : ["a/1", "a/1/b/x", "a/1/b/y/c/z", "a/2", "a/3/b/only", "other/1"])
            )
        }
    }

    @Test("Documents that were ticked go when that was confirmed")
    func selection() async throws {
        try await TestSite.with(Self.writes()) { site in
            let asked = await site.post("/admin/data/a?delete", "row=1&row=2")
            #expect(asked.status == .ok)
            #expect(try await paths(site).count == 6)
            let page = try HTMLPage(asked.body)
            #expect(try page.texts("//ul[@class='selection']//a") == ["1", "2"])
            #expect(await site.post("/admin/data/a?delete", "row=1&row=2&confirmed=yes").status == .seeOther)
            #expect(try await paths(site) == ["a/1/b/x", "a/1/b/y/c/z", "a/3/b/only", "other/1"])
        }
    }

    @Test("What filters find goes when that was confirmed, and nothing else")
    func found() async throws {
        var writes: [Write] = []
        for number in 0..<250 { writes.append(.create(try DocumentPath("n/d\(number)"), ["n": .integer(Int64(number % 2))])) }
        try await TestSite.with(writes) { site in
            let address = "/admin/data/n?delete=found&where=n%20%3D%3D%201"
            let page = try await site.page(address)
            #expect(try page.one("//*[@id='main']").text.contains("125 documents"))
            let form = try SentForm(page, "//form[contains(@class,'entry')]")
            #expect(await site.post(address, form.text).headers[.setCookie]?.hasPrefix("flash=deleted-many.125;") == true)
            let collection = try CollectionPath("n")
            let rest = try await Subtree(context: site.pages.context).count(in: collection, atMost: 1_000)
            #expect(rest == 125)
        }
    }

    @Test("Nobody deletes who may not write")
    func rights() async throws {
        try await TestSite.with(Self.writes()) { site in
            let reader = try site.keys.caller(showing: Array(try await site.keys.create(.init(role: .reader)).text.utf8))
            for form in ["name=a", "row=1&confirmed=yes", ""] {
                for address in ["/admin/data/a?delete", "/admin/data/a/1?delete", "/admin/data/a/1?restore"] {
                    #expect(await site.post(address, form + "&version=1", as: reader).status == .forbidden)
                }
            }
            #expect(try await paths(site).count == 6)
        }
    }
}

@Suite("The history of a document")
struct HistoryTests {
    @Test("Each version says what it has changed, by path and type, with signs")
    func versions() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1), "m": .map(["x": .string("old")])])]) { site in
            _ = try await site.store.commit([
                .set(path, ["n": .string("1"), "m": .map(["x": .string("old"), "y": .null]), "l": .array([])])
            ])
            _ = try await site.store.commit([.delete(path)])
            let page = try await site.page("/admin/data/a/b?history")
            #expect(page.complaints == [])
            #expect(try page.texts("//ol[@class='history']/li/header/p") == ["deleted", "changed", "created"])
            let lines = try page.texts("//ol/li[2]//ul[@class='changes']/li").map { text in
                text.split(separator: " ").joined(separator: " ")
            }
            #expect(lines == ["+added l array empty", "+added m.y null null", "−taken away n integer 1", "+added n string 1"])
        }
    }

    @Test("A version is restored as a new one, where the document is still as it was shown")
    func restore() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            _ = try await site.store.commit([.set(path, ["n": .integer(2)])])
            let form = try SentForm(await site.page("/admin/data/a/b?history"), "//ol//form")
            #expect(await site.post("/admin/data/a/b?restore", form.text).status == .seeOther)
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
            let again = await site.post("/admin/data/a/b?restore", form.text)
            #expect(again.status == .conflict)
            #expect(try await site.store.history(of: path, before: nil, limit: 10).versions.count == 3)
        }
    }

    @Test("Saving can be undone right after")
    func undo() async throws {
        let path = try DocumentPath("a/b")
        try await TestSite.with([.create(path, ["n": .integer(1)])]) { site in
            let form = try SentForm(await site.page("/admin/data/a/b?edit")).with(["r0-value": "2", "do": "save"])
            let saved = await site.post("/admin/data/a/b?edit", form.text)
            let cookie = try #require(saved.headers[.setCookie]).prefix { $0 != ";" }
            let page = try HTMLPage(await site.get("/admin/data/a/b", cookies: [String(cookie)]).body)
            _ = await site.post("/admin/data/a/b?restore", try SentForm(page, "//div[@class='flash']//form").text)
            #expect(try await site.store.document(at: path)?.decoded().fields == ["n": .integer(1)])
        }
    }

    @Test(
        "Times that are none restore nothing",
        arguments: ["", "x", "1", "99999999999999999999", "-1"]
    )
    func wrongTime(text: String) async throws {
        try await TestSite.with([.create(DocumentPath("a/b"), [:])]) { site in
            let response = await site.post("/admin/data/a/b?restore", "version=\(text)&current=")
            #expect(response.status == .badRequest || response.status == .conflict)
        }
    }
}
