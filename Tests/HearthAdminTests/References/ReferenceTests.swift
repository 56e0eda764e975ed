import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("References")
struct ReferenceTests {
    private static func writes() throws -> [Write] {
        let author = try DocumentPath("authors/adams")
        return [
            .create(author, ["name": .string("Douglas Adams")]),
            .create(try DocumentPath("authors/jones"), ["name": .string("Terry Jones")]),
            .create(try DocumentPath("books/hitchhiker"), ["author": .reference(author)]),
            .create(try DocumentPath("books/titanic"), ["credits": .map(["authors": .array([.null, .reference(author)])])]),
            .create(try DocumentPath("books/other"), ["author": .reference(try DocumentPath("authors/jones"))]),
            .create(try DocumentPath("shops/a/orders/1"), ["wants": .reference(author)]),
        ]
    }

    @Test
    func `The page of a document links to the documents that refer to it, by collection and field`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let document = try await site.page("/admin/data/authors/adams")
            let url = try #require(document.all("//a[contains(@href,'?references')]").first?["href"])
            let page = try await site.page(url)
            #expect(page.parseErrors == [])
            #expect(try page.texts("//main//h2") == ["books · author", "books · credits.authors", "orders · wants"])
            #expect(try page.texts("//ul[@class='found']//a") == ["books/hitchhiker", "books/titanic", "shops/a/orders/1"])
            let table = try #require(try page.all("//a[text()='Show as a table']").last?["href"])
            #expect(try await site.page(table).texts("//table[contains(@class,'documents')]//tbody//th/a") == ["titanic"])
        }
    }

    @Test
    func `With a key for some collections, these and their subcollections are searched, each once`() async throws {
        let author = try DocumentPath("authors/adams")
        let paths = ["books/x", "books/x/reviews/1", "books/y/reviews/2", "reviews/3", "shops/a"]
        try await TestSite.with(paths.map { .create(try DocumentPath($0), ["by": .reference(author)]) }) { site in
            func found(_ collections: [String]) async throws -> [[String]] {
                let key = try await site.keys.create(
                    .init(role: .reader, collections: collections.map { try CollectionPath($0) })
                )
                let caller = try site.keys.authenticate(Array(key.text.utf8))
                let page = try HTMLPage(await site.get("/admin/data/authors/adams?references", as: caller).body)
                #expect(!page.source.contains("The search is incomplete"))
                return [try page.texts("//main//h2"), try page.texts("//ul[@class='found']//a")]
            }
            let overlapping = try await found(["books", "reviews", "books/x/reviews", "authors"])
            #expect(
                overlapping == [
                    ["books · by", "reviews · by", "books/x/reviews · by", "books/y/reviews · by"],
                    ["books/x", "reviews/3", "books/x/reviews/1", "books/y/reviews/2"],
                ]
            )
            let one = try await found(["books/y/reviews", "authors"])
            #expect(one == [["books/y/reviews · by"], ["books/y/reviews/2"]])
        }
    }

    @Test
    func `A search ends at its limits and with its task, and is then partial`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let document = try DocumentPath("authors/adams")
            let request = AdminRequest(
                PageRequest(method: .get, path: "/admin/"),
                context: site.pages.context,
                environment: site.pages.environment,
                secret: TestSite.csrfSecret
            )
            let whole = await ReferenceScan(to: document, for: request)
            #expect(whole.matches.count == 3 && !whole.isPartial)
            let fields = await ReferenceScan(to: document, for: request, limits: .init(fieldCount: 1))
            #expect(fields.matches.map(\.field.description) == ["author"] && fields.isPartial)
            let time = await ReferenceScan(to: document, for: request, limits: .init(seconds: 0))
            #expect(time.matches.isEmpty && time.isPartial)
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await ReferenceScan(to: document, for: request)
            }
            let scan = await cancelled.value
            #expect(scan.matches.isEmpty && scan.isPartial)
        }
    }

    @Test
    func `A missing document and one without references have pages that say so`() async throws {
        try await TestSite.with(Self.writes()) { site in
            for path in ["authors/nobody", "books/other"] {
                let page = try await site.page("/admin/data/\(path)?references")
                #expect(try page.texts("//main//p[@class='empty']") == ["No document refers to this one."])
            }
        }
    }

    @Test
    func `More documents than the page lists are mentioned`() async throws {
        let target = try DocumentPath("authors/adams")
        let writes = try (0..<30).map { Write.create(try DocumentPath("books/b\($0)"), ["author": .reference(target)]) }
        try await TestSite.with(writes) { site in
            let page = try await site.page("/admin/data/authors/adams?references")
            #expect(try page.all("//ul[@class='found']/li").count == 25)
            #expect(page.source.contains("There are more documents than this page lists."))
        }
    }

    @Test(
        arguments: [
            ("", ["authors/", "books/", "shops/"]), ("authors/", ["authors/adams", "authors/jones"]),
            ("authors/j", ["authors/jones"]), ("shops/a/", ["shops/a/orders/"]), ("auth", ["authors/"]),
            ("titan", ["books/titanic"]),
        ] as [(String, [String])]
    )
    func `The button beside a reference suggests documents and collections, without scripts`(
        text: String,
        suggestions: [String]
    ) async throws {
        try await TestSite.with(Self.writes()) { site in
            for (query, form) in [("edit", "editor"), ("value=author", "value-editor")] {
                let url = "/admin/data/books/hitchhiker?\(query)"
                let selector = "//form[@id='\(form)']"
                let sent = try BrowserForm(await site.page(url), selector).with(["r0-value": text, "do": "find-0"])
                let page = try HTMLPage(await site.post(url, sent.text).body)
                #expect(page.parseErrors == [])
                #expect(try page.all("//datalist[@id='r0-value-suggestions']/option").map { $0["value"] } == suggestions)
                #expect(try page.one("//input[@id='r0-value']")["value"] == text)
                #expect(try page.one("//input[@id='r0-value']")["autofocus"] != nil)
            }
            let json = await site.get("/admin/find?suggest=references&from=books/hitchhiker&q=\(text)").body
            let list = suggestions.map { "\"\($0)\"" }.joined(separator: ",")
            #expect(String(decoding: json, as: UTF8.self) == "{\"paths\":[\(list)]}")
        }
    }

    @Test
    func `A text that nothing begins with has no suggestions`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let url = "/admin/data/books/hitchhiker?edit"
            let form = try BrowserForm(await site.page(url)).with(["r0-value": "authors/zz", "do": "find-0"])
            let page = try HTMLPage(await site.post(url, form.text).body)
            #expect(try page.texts("//span[contains(@class,'reference-input')]/span") == ["Nothing was found."])
        }
    }
}
