import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Pages")
struct PageTests {
    @Test(
        arguments: [
            ("overview", "/admin/"), ("collection", "/admin/data/books"), ("collection-paged", "/admin/data/colors?size=25"),
            ("collection-map", "/admin/data/locations?view=map"), ("document", "/admin/data/books/hitchhiker"),
            ("document-tags", "/admin/data/books/hitchhiker-tags"), ("document-urls", "/admin/data/books/hitchhiker-image-urls"),
            ("document-geo-point", "/admin/data/locations/googleHAM"),
            ("document-time", "/admin/data/programming-languages/3yDHZpqFGBgXNRfdxVX6"),
            ("document-json", "/admin/data/books/hitchhiker-tags?view=json"),
            ("document-missing", "/admin/data/books/does-not-exist"),
            ("error", "/admin/data/books/__reserved__"), ("collection-empty", "/admin/data/articles"),
        ]
    )
    func `Pages match their golden files and are well-formed`(name: String, address: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(address)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "\(name).html")
        }
    }

    @Test
    func `The layout around a page matches its golden file`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            try GoldenFile.checkLayout(of: try await site.page("/admin/data/books/hitchhiker-tags"), "layout.html")
        }
    }

    @Test
    func `The overview of an empty database offers the example data`() async throws {
        try await TestSite.with { site in
            try GoldenFile.check(try await site.page("/admin/"), "overview-empty.html")
        }
    }

    @Test
    func `The overview links to the root collections`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let links = try await site.page("/admin/").all("//main//ul[@class='collections']//a")
            #expect(
                links.map(\.text) == [
                    "books 5 · 1,075 bytes", "colors 2 · 210 bytes", "locations 5 · 563 bytes",
                    "programming-languages 4 · 490 bytes",
                ]
            )
            #expect(links.first?["href"] == "/admin/data/books")
        }
    }

    @Test
    func `A table has the union of the fields in the order of their names, and labels missing fields`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books")
            #expect(
                try page.texts("//thead//th//bdi") == [
                    "ID", "author", "color", "cover", "field-doesnt-exist-in-struct", "genres", "numberOfPages", "tags", "title",
                ]
            )
            #expect(try page.texts("//thead//th[7]/span[@class='type unusual']") == ["integer · string"])
            #expect(
                try page.texts("//tbody/tr/th") == [
                    "hitchhiker", "hitchhiker-genre", "hitchhiker-image-urls", "hitchhiker-tags", "invalid-data",
                ]
            )
            #expect(try page.texts("//tbody/tr[1]/td[3][@class='absent']") == ["no such field"])
            #expect(try page.texts("//tbody/tr[5]/td[7]") == ["twohundredfifty string"])
            #expect(try page.texts("//td[@class='unusual-cell']/span[@class='type unusual']") == ["string"])
            #expect(try page.one("//p[@class='unusual-note']/a")["href"] == "/admin/data/books?view=types")
        }
    }

    @Test
    func `Colors in arrays are chips, in tables and on document pages`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for address in ["/admin/data/books/hitchhiker-tags", "/admin/data/books"] {
                let page = try await site.page(address)
                let chips = try page.all("//span[contains(@class,'chip')]").map { [$0["class"], $0.text] }
                #expect(chips.contains(["chip c-ec4be9", "#ec4be9"]))
                #expect(chips.contains(["chip c-b0f566", "#b0f566"]))
                let style = try page.one("//style[not(parent::noscript)]")
                #expect(style["nonce"] == TestSite.nonce)
                #expect(style.text.contains(".c-ec4be9{background-color:#ec4be9;color:#000000"))
            }
        }
    }

    @Test
    func `A document's page shows fields with names, types and values`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books/hitchhiker-tags")
            #expect(try page.one("//h1/bdi").text == "hitchhiker-tags")
            #expect(
                try page.texts("//tbody/tr/td[1]") == [
                    "string", "integer", "array", "map", "string", "string", "map", "string", "string", "string",
                ]
            )
            #expect(try page.all("//tbody/tr/th").map { $0["title"] }[4] == "tags[0].color")
            #expect(try page.texts("//nav[@aria-label='Breadcrumb']//a") == ["books", "hitchhiker-tags"])
            #expect(
                try page.one("//nav[@aria-label='Breadcrumb']//a[@aria-current]")["href"] == "/admin/data/books/hitchhiker-tags"
            )
        }
    }

    @Test
    func `URLs, timestamps and geo points are readable and machine-readable`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let urls = try await site.page("/admin/data/books/hitchhiker-image-urls").all("//a[@class='external']")
            #expect(urls.map { $0["href"] }.contains("https://covers.openlibrary.org/b/id/10555691-S.jpg"))
            #expect(urls.allSatisfy { $0["rel"] == "noreferrer noopener" })
            let time = try await site.page("/admin/data/programming-languages/3yDHZpqFGBgXNRfdxVX6").one("//tbody//time")
            #expect(time["datetime"] == "1843-01-01T16:58:32Z")
            #expect(time.text == "1843-01-01 16:58:32 UTC")
            let place = try await site.page("/admin/data/locations/googleHAM")
            #expect(try place.texts("//tbody/tr[1]/td[2]") == ["53.553986, 9.9856482 53°33′14.3″ N, 9°59′08.3″ E Copy"])
            #expect(try place.one("//*[@class='dot']")["d"] == "M9.986 -53.554h0")
        }
    }

    @Test
    func `The map of a collection has markers, and a list of all points`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/locations?view=map")
            #expect(try page.texts("//text[@class='cluster-count']") == ["2"])
            #expect(try page.all("//*[@class='dot']").count == 3)
            #expect(try page.texts("//tbody/tr/th") == ["googleHAM", "googleNYC", "googleSFO", "googleUK", "googleplex"])
            #expect(
                try await site.page("/admin/data/locations").texts("//nav[@class='views']//a") == [
                    "Table", "Panels", "Map", "JSON", "Types",
                ]
            )
            #expect(
                try await site.page("/admin/data/colors").texts("//nav[@class='views']//a") == [
                    "Table", "Panels", "Colors", "JSON", "Types",
                ]
            )
        }
    }

    @Test
    func `A large collection is paginated`() async throws {
        var writes: [Write] = []
        for number in 100..<160 { writes.append(.create(try DocumentPath("many/d\(number)"), ["n": .integer(Int64(number))])) }
        try await TestSite.with(writes) { site in
            var ids: [String] = []
            var address: String? = "/admin/data/many?size=25"
            var pages = 0
            while let current = address, pages < 10 {
                let page = try await site.page(current)
                ids += try page.texts("//tbody/tr/th")
                address = try page.all("//a[@rel='next']").first?["href"]
                pages += 1
            }
            #expect(pages == 3)
            #expect(ids == (100..<160).map { "d\($0)" })
            let second = try await site.page("/admin/data/many?after=d124&size=25")
            #expect(try second.one("//nav[@class='pages']/a[1]")["href"] == "/admin/data/many?size=25")
            #expect(try second.texts("//nav[@class='pages']//a[@aria-current]") == ["25"])
        }
    }

    @Test
    func `A long ID is shortened in the table and complete on its own page`() async throws {
        let id = "begin" + String(repeating: "x", count: 1_490) + "-end"
        try await TestSite.with([.create(try CollectionPath("many").document(try DocumentPath.ID(id)), [:])]) { site in
            let link = try await site.page("/admin/data/many").one("//tbody/tr/th/a")
            #expect(link.text.utf8.count < 80 && link.text.hasPrefix("beginxx") && link.text.hasSuffix("x-end"))
            #expect(try await site.page(try #require(link["href"])).one("//h1/bdi").text == id)
        }
    }

    @Test
    func `The service's page size limit applies to pages`() async throws {
        var writes: [Write] = []
        for number in 100..<130 { writes.append(.create(try DocumentPath("many/d\(number)"), ["n": .integer(Int64(number))])) }
        try await TestSite.with(writes, limits: ServiceLimits(maximumPageSize: 7)) { site in
            let page = try await site.page("/admin/data/many?size=25")
            #expect(try page.all("//tbody/tr").count == 7)
            #expect(try page.one("//a[@rel='next']")["href"] == "/admin/data/many?after=d106&size=25")
        }
    }

    @Test(arguments: [(1_000, nil), (1_001, "1,001"), (2_345, "2,345")])
    func `A truncated list of geo points is announced`(count: Int, total: String?) async throws {
        let place: Value = .geoPoint(try GeoPoint(validatingLatitude: 1, longitude: 2))
        try await TestSite.with([
            .create(try DocumentPath("many/places"), ["list": .array(Array(repeating: place, count: count))])
        ]) {
            site in
            let notes = total.map { ["Showing the first 1,000 of \($0) geo points."] } ?? []
            let map = try await site.page("/admin/data/many?view=map")
            #expect(try map.texts("//main/p[@class='note']") == notes)
            #expect(try map.all("//tbody/tr").count == 1_000)
            #expect(try await site.page("/admin/data/many/places").texts("//section[@aria-labelledby='places']/p") == notes)
        }
    }

    @Test
    func `The page of a missing document links to its subcollections`() async throws {
        try await TestSite.with([.create(try DocumentPath("books/ghost/reviews/r1"), ["stars": .integer(5)])]) { site in
            let response = await site.get("/admin/data/books/ghost")
            #expect(response.status == .notFound)
            #expect(try HTMLPage(response.body).one("//main//ul//a")["href"] == "/admin/data/books/ghost/reviews")
            let row = try await site.page("/admin/data/books").one("//tbody/tr")
            #expect(row["class"] == "missing")
            let document = try await site.page("/admin/data/books/ghost/reviews/r1")
            #expect(try document.texts("//nav[@aria-label='Breadcrumb']//a") == ["books", "ghost", "reviews", "r1"])
        }
    }

    @Test(arguments: [hostileIDs])
    func `A collection links to documents with hostile IDs`(ids: [String]) async throws {
        var writes: [Write] = []
        let collection = try CollectionPath("odd")
        for (number, id) in ids.enumerated() {
            writes.append(.create(collection.document(try DocumentPath.ID(id)), ["number": .integer(Int64(number))]))
        }
        try await TestSite.with(writes) { site in
            let links = try await site.page("/admin/data/odd?size=200").all("//tbody/tr/th/a")
            #expect(links.count == ids.count)
            var numbers: Set<String> = []
            for link in links {
                let page = try await site.page(try #require(link["href"]))
                numbers.formUnion(try page.texts("//td[@class='value']"))
            }
            #expect(numbers.count == ids.count)
        }
    }

    @Test(
        arguments: [
            ("/admin/data/books/nothing", 404), ("/admin/nothing", 404), ("/admin/assets/nothing.css", 404),
            ("/admin/data/%FF", 400),
            ("/admin/data/books/a%2Fb", 400), ("/admin/data/%2E%2E", 400), ("/admin/data/books?after=a%2Fb", 400),
        ]
    )
    func `Unknown and invalid paths return error pages`(address: String, status: Int) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get(address)
            #expect(response.status.code == status)
            #expect(response.headers[.contentType] == "text/html; charset=utf-8")
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
        }
    }
}
