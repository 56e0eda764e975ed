import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Search box")
struct FinderTests {
    /// The example data and documents in subcollections.
    private static func writes() throws -> [Write] {
        try GuideData.writes() + [
            .create(DocumentPath("books/hitchhiker/reviews/r1"), ["stars": .integer(6)]),
            .create(DocumentPath("books/hitchhiker/reviews/googleUK"), [:]),
            .create(DocumentPath("books/ghost/reviews/r2"), [:]),
        ]
    }

    private func address(_ text: String, _ rest: String = "") -> String {
        "/admin/find?q=" + PercentEncoding.encode(UTF8Key(text)) + rest
    }

    private func caller(_ site: TestSite, _ role: Role, collections: [String]? = nil) async throws -> Caller {
        let paths = try collections?.map { try CollectionPath($0) }
        return try site.keys.authenticate(Array(try await site.keys.create(.init(role: role, collections: paths)).text.utf8))
    }

    private func links(_ page: HTMLPage) throws -> [String] {
        try page.all("//main//ul[@class='found']//a").map { $0["href"] ?? "" }
    }

    @Test(
        arguments: [
            ("books", "/admin/data/books"), (" /books/ ", "/admin/data/books"),
            ("books/hitchhiker", "/admin/data/books/hitchhiker"),
            ("/books/hitchhiker/", "/admin/data/books/hitchhiker"),
            ("books/hitchhiker/reviews", "/admin/data/books/hitchhiker/reviews"),
            // A missing document with a subcollection.
            ("books/ghost", "/admin/data/books/ghost"),
            ("http://db.example:8080/admin/data/books?order=-title#x", "/admin/data/books?order=-title"),
            ("/admin/keys", "/admin/keys"), ("https://x/rpc/docs#documents.get", "/rpc/docs"),
            (
                "projects/p/databases/(default)/documents/books/a b",
                "/admin/databases/p/%28default%29/data/books/a%20b"
            ),
        ]
    )
    func `An existing path or a page's URL leads to its page`(text: String, location: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await site.get(address(text))
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == location)
        }
    }

    @Test
    func `A document is found by its ID in all collections`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let page = try await site.page(address("googleUK"))
            #expect(page.parseErrors == [])
            #expect(try links(page) == ["/admin/data/locations/googleUK", "/admin/data/books/hitchhiker/reviews/googleUK"])
            #expect(try page.one("//input[@id='find']")["value"] == "googleUK")
        }
    }

    @Test(
        arguments: [
            ("backups", "", "/admin/backups"), ("Slow Calls", "", "/admin/activity/slow-calls"),
            ("history", "&from=books%2Fhitchhiker", "/admin/data/books/hitchhiker?history"),
            // Other IDs begin with it.
            ("hitchhiker", "", "/admin/data/books/hitchhiker"), ("r2", "", "/admin/data/books/ghost/reviews/r2"),
        ]
    )
    func `The name of one page, document or collection leads there`(text: String, rest: String, location: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await site.get(address(text, rest))
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == location)
        }
    }

    @Test
    func `The page says what was not searched, unless no document is there`() async throws {
        let documents = try (1_000..<2_200).map { try Write.create(DocumentPath("a/d\($0)"), [:]) }
        try await TestSite.with(documents) { site in
            let found = await site.get(address("d2199"))
            #expect(found.headers[.location] == "/admin/data/a/d2199")
            let page = try await site.page(address("d219"))
            #expect(try links(page).count == 10)
            #expect(try page.all("//main/p[@class='note']").isEmpty)
            _ = try await site.store.commit([.create(DocumentPath("a/d2199/sub/x"), [:])])
            for text in ["d2199", "x"] {
                let page = try await site.page(address(text))
                #expect(
                    try page.texts("//main/p[@class='note']") == [
                        "The search is incomplete: subcollections are found only in the first documents of each collection."
                    ]
                )
            }
            let backups = await site.get(address("backups"))
            #expect(backups.headers[.location] == "/admin/backups")
        }
    }

    @Test
    func `Documents are found by the beginning of their ID, those of the page's collection first`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let found = try links(try await site.page(address("hitchhiker-", "&from=books%2Fhitchhiker")))
            #expect(found == ["genre", "image-urls", "tags"].map { "/admin/data/books/hitchhiker-\($0)" })
            let everywhere = try links(try await site.page(address("google", "&from=books%2Fhitchhiker%2Freviews")))
            #expect(everywhere.first == "/admin/data/books/hitchhiker/reviews/googleUK")
            #expect(everywhere.count == 6)
            let page = try await site.page(address("oogle"))
            #expect(try links(page) == [])
        }
    }

    @Test
    func `A search by the beginning of IDs says that there are more matches than it lists`() async throws {
        let writes = try ["a", "b"].flatMap { collection in
            try (100..<130).map { try Write.create(DocumentPath("\(collection)/key\($0)"), [:]) }
        }
        try await TestSite.with(writes) { site in
            for (text, count, hasMore) in [("key1", 50, true), ("key10", 20, false)] {
                let page = try await site.page(address(text))
                #expect(try links(page).count == count)
                let notes = try page.all("//main/p[@class='note']").map(\.text)
                #expect(notes == (hasMore ? ["There are more results than this page lists."] : []))
            }
        }
    }

    @Test
    func `Collections and pages are found by parts of their names`() async throws {
        try await TestSite.with(Self.writes()) { site in
            for (text, expected) in [
                ("REVIEW", ["/admin/data/books/ghost/reviews", "/admin/data/books/hitchhiker/reviews"]),
                ("lang", ["/admin/data/programming-languages"]), ("exempt", ["/admin/settings#exemptions"]),
                ("create key", ["/admin/keys#another"]),
            ] {
                let found = try links(try await site.page(address(text)))
                #expect(found == expected)
            }
        }
    }

    @Test
    func `Actions apply to the collection or document of the page with the box`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let box = try await site.page("/admin/data/books/hitchhiker").one("//form[@role='search']/input[@name='from']")
            #expect(box["value"] == "books/hitchhiker")
            let history = try links(try await site.page(address("histor", "&from=books%2Fhitchhiker")))
            #expect(history == ["/admin/data/books/hitchhiker?history"])
            let new = try links(try await site.page(address("new doc", "&from=books")))
            #expect(new == ["/admin/data/books?new"])
            let reader = try await caller(site, .reader)
            let page = try HTMLPage(await site.get(address("new doc", "&from=books"), as: reader).body)
            #expect(try links(page) == [])
        }
    }

    @Test
    func `A path where nothing exists shows documents whose ID begins like it`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let response = await site.get(address("books/hitchhiker-"))
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(try page.one("//p[@class='found-note']/a")["href"] == "/admin/data/books/hitchhiker-")
            #expect(
                try links(page) == ["genre", "image-urls", "tags"].map { "/admin/data/books/hitchhiker-\($0)" }
            )
            let subcollection = try links(try await site.page(address("books/hitchhiker/rev")))
            #expect(subcollection == ["/admin/data/books/hitchhiker/reviews"])
        }
    }

    @Test(
        arguments: [
            "..", "books//x", "/", "//", "a/../b", "a\u{0}b", "__x__", "books/__x__", String(repeating: "x", count: 1_501),
            String(repeating: "x/", count: 4_000), String(repeating: "é", count: 20_000), "http://x/nothing", "http://x",
            "/admin/nothing", "https://x//evil.example/", "/admin/assets/admin.css",
        ]
    )
    func `Invalid text gets a message`(text: String) async throws {
        try await TestSite.with(Self.writes()) { site in
            for suffix in ["", "&from=%2E%2E", "&suggest=1"] {
                let response = await site.get(address(text, suffix))
                guard suffix != "&suggest=1" else {
                    #expect(response.status == .ok)
                    continue
                }
                #expect(response.status == .badRequest)
                let page = try HTMLPage(response.body)
                #expect(page.parseErrors == [])
                #expect(try page.one("//main//div[@class='alert']/p").text != "")
            }
        }
    }

    @Test(arguments: hostileIDs)
    func `A document with any ID is found`(id: String) async throws {
        let path = DocumentPath(collection: try CollectionPath("odd"), id: try DocumentPath.ID(id))
        try await TestSite.with([.create(path, [:])]) { site in
            let response = await site.get(address("odd/\(id)"))
            // Surrounding whitespace is not part of the text, and a slash separates IDs.
            guard FormTextCoding.trimmed(id) == id else { return }
            #expect(response.headers[.location] == AdminURL.document(path))
            if !["#", "?", "view=json"].contains(id) {
                let found = await site.get(address(id))
                #expect(found.headers[.location] == AdminURL.document(path))
            }
        }
    }

    @Test
    func `Results are limited to what the key may read`() async throws {
        try await TestSite.with(Self.writes()) { site in
            let caller = try await caller(site, .reader, collections: ["books/hitchhiker/reviews", "colors"])
            func found(_ text: String, _ rest: String = "") async throws -> [String] {
                try links(try HTMLPage(await site.get(address(text, rest), as: caller).body))
            }
            let review = await site.get(address("googleUK"), as: caller)
            #expect(review.headers[.location] == "/admin/data/books/hitchhiker/reviews/googleUK")
            for text in ["hitchhiker-tags", "ook", "rules", "databases"] {
                let results = try await found(text, "&from=books")
                #expect(results == [])
            }
            let suggestions = await site.get(address("hitch", "&from=books&suggest=1"), as: caller)
            #expect(try JSONText(suggestions.body).root["options"]?.count == 0)
            // The answer doesn't tell whether the document exists.
            for path in ["books/hitchhiker", "books/nothing"] {
                let response = await site.get(address(path), as: caller)
                #expect(response.status == .badRequest)
            }
            let colors = await site.get(address("colors"), as: caller)
            #expect(colors.headers[.location] == "/admin/data/colors")
        }
    }

    @Test
    func `Suggestions are JSON with names, kinds and URLs`() async throws {
        try await TestSite.with(Self.writes()) { site in
            func suggestions(_ text: String, _ rest: String = "") async throws -> [[String]] {
                let response = await site.get(address(text, rest + "&suggest=1"))
                #expect(response.headers[.contentType] == "application/json")
                let options = try #require(try JSONText(response.body).root["options"]?.elements)
                return options.map { option in ["kind", "text", "url"].map { option[UTF8Key($0)]?.string ?? "" } }
            }
            let tags = try await suggestions("books/hitchhiker-t")
            #expect(tags == [["Document", "books/hitchhiker-tags", "/admin/data/books/hitchhiker-tags"]])
            let documents = try await suggestions("books/hitchhiker")
            #expect(documents.first == ["Document", "books/hitchhiker", "/admin/data/books/hitchhiker"])
            #expect(documents.count == 4)
            let below = try await suggestions("books/hitchhiker/")
            #expect(
                below == [
                    ["Collection", "books/hitchhiker/reviews", "/admin/data/books/hitchhiker/reviews"],
                    ["Document", "books/hitchhiker", "/admin/data/books/hitchhiker"],
                ]
            )
            let pages = try await suggestions("Key")
            #expect(pages == [["Page", "Keys", "/admin/keys"], ["Page", "Create a key", "/admin/keys#another"]])
            // In the collection of the page, the beginning of an ID suffices.
            let offices = try await suggestions("google", "&from=locations")
            #expect(offices.count == 5)
            let elsewhere = try await suggestions("google", "&from=books")
            #expect(elsewhere == offices)
            let none = try await suggestions("")
            #expect(none.isEmpty)
        }
    }

    @Test
    func `The box is on every page of a signed-in user`() async throws {
        try await TestSite.with(Self.writes()) { site in
            for address in ["/admin/", "/admin/data/books", "/admin/nothing", "/rpc/docs", "/admin/settings", "/admin/find"] {
                let form = try await site.page(address).one("//form[@role='search']")
                #expect(form["action"] == "/admin/find" && form["method"] == "get")
            }
            #expect(try HTMLPage(await site.get("/admin/", as: .unauthenticated).body).all("//form[@role='search']").isEmpty)
            #expect(await site.get(address("books"), as: .unauthenticated).status == .unauthorized)
        }
    }
}
