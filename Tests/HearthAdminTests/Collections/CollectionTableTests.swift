import DocumentModel
import DocumentStore
import FileStore
import HTTPTypes
import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

/// Returns the target of the single link that an expression matches.
private func href(_ page: HTMLPage, _ expression: String) throws -> String {
    let link = try page.one(expression)
    return try #require(link["href"])
}

@Suite("Collection tables")
struct CollectionTableTests {
    private static func numbers(_ range: Range<Int>) throws -> [Write] {
        try range.map { number in
            .create(
                try DocumentPath("many/d\(number)"),
                ["n": .integer(Int64(number % 7)), "even": .boolean(number.isMultiple(of: 2))]
            )
        }
    }

    @Test
    func `Only who may write gets a column of checkboxes, in the rows of live updates, too`() async throws {
        let missing = try DocumentPath("a/missing/b/1")
        try await TestSite.with([.set(try DocumentPath("a/1"), ["n": .integer(1)]), .set(missing, [:])]) { site in
            let page = try await site.page("/admin/data/a")
            #expect(try page.all("//thead//td[@class='select']/input[@id='select-all' and @hidden]").count == 1)
            #expect(try page.all("//tbody/tr/td[@class='select']/following-sibling::*[1][self::th]").count == 2)
            #expect(try page.all("//tbody/tr/td[@class='select']/input[@name='row']").count == 1)
            let (_, text) = try await site.keys.create(.init(role: .reader))
            let reader = try site.keys.authenticate(Array(text.utf8))
            let other = try HTMLPage(await site.get("/admin/data/a", as: reader).body)
            #expect(try other.all("//td[@class='select']").isEmpty)
            #expect(try other.all("//tbody/tr").count == 2)
        }
    }

    private func ids(_ page: HTMLPage) throws -> [String] {
        try page.texts("//tbody/tr/th")
    }

    @Test
    func `A header sorts ascending, descending and by ID in turn`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            var page = try await site.page("/admin/data/programming-languages")
            #expect(try page.texts("//th[@aria-sort='ascending']") == ["ID"])
            page = try await site.page(try href(page, "//thead//a[bdi='year']"))
            #expect(try page.texts("//th[@aria-sort='ascending']/a") == ["year"])
            let names = "//tbody/tr/td[count(//thead//th[a/bdi='year']/preceding-sibling::*)]//time/@datetime"
            #expect(
                try page.texts(names) == [
                    "1843-01-01T16:58:32Z", "1978-03-19T16:37:00Z", "2012-06-06T13:28:00Z", "2014-09-09T08:00:47Z",
                ]
            )
            let down = try href(page, "//thead//a[bdi='year']")
            #expect(down == "/admin/data/programming-languages?order=-year")
            page = try await site.page(down)
            #expect(try page.texts(names).first == "2014-09-09T08:00:47Z")
            #expect(try page.one("//thead//a[bdi='year']")["href"] == "/admin/data/programming-languages")
        }
    }

    @Test
    func `Sorting excludes documents without the field, and the page says so`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/programming-languages?order=name")
            #expect(try ids(page) == ["3yDHZpqFGBgXNRfdxVX6"])
            #expect(try page.one("//p[@class='note sorted']/strong").text == "name")
        }
    }

    @Test(
        arguments: [
            "", "order=n", "order=-n", "order=-n&order=even", "order=-__name__", "where=even%20%3D%3D%20true",
            "where=n%20%3E%3D%202",
            "where=n%20%3E%3D%202&order=-n",
        ]
    )
    func `Paging forward and backward has no gaps or repeats in any order`(query: String) async throws {
        try await TestSite.with(Self.numbers(100..<190)) { site in
            var page = try await site.page("/admin/data/many?size=25&" + query)
            var forwardPages = [try ids(page)]
            while let next = try page.all("//a[@rel='next']").first?["href"], forwardPages.count < 9 {
                page = try await site.page(next)
                forwardPages.append(try ids(page))
            }
            var backwardPages = [try ids(page)]
            while let previous = try page.all("//a[@rel='prev']").first?["href"], backwardPages.count < 9 {
                page = try await site.page(previous)
                backwardPages.append(try ids(page))
            }
            let all = forwardPages.flatMap(\.self)
            #expect(Set(all).count == all.count)
            #expect(all.count == (query.contains("even%20") ? 45 : query.contains("where") ? 65 : 90))
            #expect(forwardPages.dropLast().allSatisfy { $0.count == 25 })
            #expect(backwardPages.last == forwardPages.first)
            #expect(backwardPages.reversed().flatMap(\.self).suffix(25) == all.suffix(25))
            #expect(Set(backwardPages.flatMap(\.self)) == Set(all))
        }
    }

    @Test(
        arguments: [
            (#"numberOfPages >= 200"#, ["hitchhiker", "hitchhiker-genre", "hitchhiker-image-urls", "hitchhiker-tags"]),
            (#"numberOfPages == "twohundredfifty""#, ["invalid-data"]),
            (#"author != "Peter""#, ["hitchhiker", "hitchhiker-genre", "hitchhiker-image-urls", "hitchhiker-tags"]),
            (#"author in ["Peter"]"#, ["invalid-data"]),
            (#"author not-in ["Peter"]"#, ["hitchhiker", "hitchhiker-genre", "hitchhiker-image-urls", "hitchhiker-tags"]),
            (#"genres array-contains "Comedy""#, ["hitchhiker-genre"]),
            (#"genres array-contains-any ["Comedy",1]"#, ["hitchhiker-genre"]),
            (#"cover.small > """#, ["hitchhiker-image-urls"]),
            (#"`field-doesnt-exist-in-struct` == "hello""#, ["hitchhiker"]),
            (#"author == null"#, []),
        ]
    )
    func `Filters match the right documents`(filter: String, found: [String]) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?where=" + PercentEncoding.encode(UTF8Key(filter)))
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try ids(page).sorted() == found)
        }
    }

    @Test(
        arguments: [
            "f=location&op=near&t=string&v=37.4,-122.1,100+km", "f=location&op=within&t=string&v=37,-123,38,-122",
        ]
    )
    func `Geo filters match within a radius and within a box`(form: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/locations?" + form)
            let location = try #require(response.headers[.location])
            let page = try await site.page(location)
            #expect(try ids(page) == ["googleSFO", "googleplex"])
            // The text in the form results in the same filter.
            let field = try page.one("//input[@name='v']")["value"] ?? ""
            let again = await site.get(
                "/admin/data/locations?f=location&op=\(form.contains("near") ? "near" : "within")&t=string&v="
                    + PercentEncoding.encode(UTF8Key(field))
            )
            #expect(again.headers[.location] == location)
        }
    }

    @Test(
        arguments: [
            ("f=numberOfPages&op=%3E%3D&t=integer&v=200", "where=numberOfPages%20%3E%3D%20200"),
            ("f=title&op=%3D%3D&t=string&v=200", "where=title%20%3D%3D%20%22200%22"),
            ("f=x-y&op=in&t=integer&v=1,+2", "where=%60x-y%60%20in%20%5B1%2C2%5D"),
            ("f=numberOfPages&op=%3D%3D&t=auto&v=816", "where=numberOfPages%20%3D%3D%20816"),
            ("f=title&op=%3D%3D&t=auto&v=816", "where=title%20%3D%3D%20%22816%22"),
            ("f=title&op=in&t=auto&v=816,x", "where=title%20in%20%5B%22816%22%2C%22x%22%5D"),
            ("f=unknown&op=%3D%3D&v=816", "where=unknown%20%3D%3D%20816"),
            ("f=unknown&op=%3D%3D&t=auto&v=true", "where=unknown%20%3D%3D%20true"),
            ("f=unknown&op=%3D%3D&t=auto&v=a/b", "where=unknown%20%3D%3D%20%22a%2Fb%22"),
            ("f=a&op=%3D%3D&t=null&v=", "where=a%20%3D%3D%20null"),
            ("f=a&op=%3D%3D&t=double&v=NaN", "where=a%20%3D%3D%20%7B%22%24double%22%3A%22NaN%22%7D"),
            (
                "f=a&op=%3E&t=timestamp&v=2020-01-01",
                "where=a%20%3E%20%7B%22%24timestamp%22%3A%222020-01-01T00%3A00%3A00.000000Z%22%7D"
            ),
            ("f=a&op=%3C&t=double&v=1&f=&op=&t=&v=", "where=a%20%3C%201.0"),
            ("f=a&op=%3C&t=double&v=1&f=b&op=%3C&t=double&v=x&remove=1", "where=a%20%3C%201.0"),
            ("order=-a&size=25&f=a&op=%3D%3D&t=boolean&v=true", "where=a%20%3D%3D%20true&order=-a&size=25"),
        ]
    )
    func `The form redirects to the canonical URL`(sent: String, query: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?" + sent)
            #expect(response.status == .temporaryRedirect)
            #expect(response.headers[.location] == "/admin/data/books?" + query)
        }
    }

    @Test(
        arguments: [
            #"a == "text""#, #"a == 5"#, #"a == 5.0"#, #"a == {"$double":"-Infinity"}"#, #"a == true"#, #"a == null"#,
            #"a == {"$bytes":"SGVhcnRo"}"#, #"a == {"$reference":"books/b"}"#, #"a == {"x":[1,2.5]}"#, #"a.`b c` in [1,"x, y"]"#,
            #"a == {"$geoPoint":{"latitude":1.5,"longitude":-2.0}}"#, #"a == "a\u200bb""#, #"a == """#, #"`a=b` > "x""#,
            #"a > {"$timestamp":"2020-01-01T00:00:00.000000Z"}"#,
        ]
    )
    func `A filter from a URL submits to the same URL`(filter: String) throws {
        let row = FilterRow(UTF8Key(filter))
        #expect(row.text == UTF8Key(filter))
        let shown = row.escaped
        let sent = FilterRow(
            field: shown.field,
            op: shown.op.rawValue,
            kind: shown.operand.kind.rawValue,
            text: shown.operand.text
        )
        #expect(sent.text == UTF8Key(filter))
    }

    @Test(
        arguments: [
            ("f=a&op=%3D%3D&t=integer&v=twelve", "twelve", "Expected a 64-bit integer"),
            ("f=a&op=near&t=string&v=here", "here", "Expected latitude"),
            ("f=a.&op=%3D%3D&t=string&v=x", "x", "has an empty name"),
            ("f=&op=%3D%3D&t=string&v=x", "x", "Enter a field"),
            ("f=a&op=%3D%3D&t=JSON&v=%7B", "{", "Invalid JSON"),
            ("where=a%20%3C%20null", "", "cannot compare with null"),
            ("where=a%20like%201", "1", "Expected a field, an operator"),
            ("where=a%20in%20%5B%5D", "[]", "non-empty"),
        ]
    )
    func `An invalid filter is shown with its error and the entered text`(
        query: String,
        value: String,
        message: String
    ) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?" + query)
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            #expect(try page.one("//input[@name='v']")["value"] == value)
            #expect(try page.one("//input[@name='v']")["aria-invalid"] == "true")
            #expect(try page.one("//p[@class='field-error']").text.contains(message))
        }
    }

    @Test(
        arguments: [
            ("f=author&op=%3D%3D&t=auto&v=Peter", "auto"), ("f=numberOfPages&op=%3D%3D&t=auto&v=816", "auto"),
            ("f=numberOfPages&op=%3E&t=integer&v=816", "auto"), ("f=numberOfPages&op=%3D%3D&t=string&v=816", "string"),
            ("f=author&op=in&t=auto&v=Peter,x", "auto"), ("f=author&op=prefix&t=auto&v=P", "auto"),
            ("f=author&op=%3D%3D&t=null&v=", "null"), ("f=a&op=%3D%3D&t=JSON&v=%7B%22b%22%3A1%7D", "JSON"),
            ("f=numberOfPages&op=%3D%3D&t=integer&v=many", "integer"),
        ]
    )
    func `The form keeps only a type that differs from the automatic one`(sent: String, type: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/data/books?" + sent)
            let location = response.headers[.location]
            let page = if let location { try await site.page(location) } else { try HTMLPage(response.body) }
            let form = try BrowserForm(page, "//form[@class='rows']")
            #expect(form["t"] == type)
            // It is for the same query.
            guard let location else { return }
            #expect(await site.get("/admin/data/books?" + form.text).headers[.location] == location)
        }
    }

    @Test
    func `Another field in a filter without a type gets its own type`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?where=author%20%3D%3D%20%22Peter%22")
            let form = try BrowserForm(page, "//form[@class='rows']").with(["f": "numberOfPages", "v": "816"])
            let numbers = "/admin/data/books?where=numberOfPages%20%3D%3D%20816"
            #expect(await site.get("/admin/data/books?" + form.text).headers[.location] == numbers)
            let back = try BrowserForm(await site.page(numbers), "//form[@class='rows']").with(["f": "author", "v": "Peter"])
            let authors = "/admin/data/books?where=author%20%3D%3D%20%22Peter%22"
            #expect(await site.get("/admin/data/books?" + back.text).headers[.location] == authors)
        }
    }

    @Test(arguments: ["where=author%20%3D%3D%20%22Peter%22", "order=author", "view=json&order=-author"])
    func `A query on a field that is exempt from indexing leads to the settings, beside the filters`(query: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            #expect(await site.post("/admin/settings", "do=exempt&collection=books&fields=author").status == .seeOther)
            try await site.store.waitUntilIndexed()
            let response = await site.get("/admin/data/books?" + query)
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            let note = try page.one("//main//*[@role='alert']")
            #expect(note.text.contains("can’t be filtered or sorted by author"))
            #expect(!note.text.contains("indexes."))
            #expect(try page.one("//main//*[@role='alert']//a")["href"] == "/admin/settings#exemptions")
            #expect(try page.all("//input[@name='f']").count == 1)
            #expect(try page.all("//*[@id='live']").isEmpty)
        }
    }

    @Test
    func `The error is shown at the filter that violates a query rule`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?where=a%20!%3D%201&where=b%20!%3D%202")
            #expect(try page.all("//fieldset[@class='invalid']").count == 1)
            #expect(try page.one("//fieldset[@class='invalid']//input[@name='f']")["value"] == "b")
        }
    }

    @Test(
        arguments: ["where=numberOfPages%20%3E%20", "f=numberOfPages&op=%3E&t=integer&v="]
    )
    func `Excess filters stay in the form with an error`(filter: String) async throws {
        let limit = CollectionRequest.maximumFilterCount
        try await TestSite.with(GuideData.writes()) { site in
            for count in [limit, limit + 2] {
                let address = "/admin/data/books?" + (1...count).map { "\(filter)\($0)" }.joined(separator: "&")
                var response = await site.get(address)
                // A valid form redirects to the canonical URL.
                if let location = response.headers[.location] { response = await site.get(location) }
                let page = try HTMLPage(response.body)
                #expect(response.status == (count > limit ? .badRequest : .ok))
                #expect(try page.all("//input[@name='v']").compactMap { $0["value"] } == (1...count).map(String.init))
                let faults = try page.texts("//fieldset[@class='invalid']//p[@class='field-error']")
                #expect(faults.count == count - limit)
                #expect(faults.allSatisfy { $0.contains("at most 20 filters") })
            }
        }
    }

    @Test
    func `Adding a row keeps the other rows`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?f=author&op=%3D%3D&t=string&v=Peter&add=1")
            #expect(try page.all("//input[@name='f']").map { $0["value"] } == ["author", ""])
            #expect(try ids(page) == ["invalid-data"])
        }
    }

    @Test
    func `Chosen columns keep their order, and the form keeps the rest of the URL`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?order=-title&cols=cover.small&cols=title&cols=")
            #expect(try page.texts("//thead//th//bdi") == ["ID", "cover.small", "title"])
            #expect(try page.one("//td//a[@class='external']")["href"] == "https://covers.openlibrary.org/b/id/10555691-S.jpg")
            let form = "//form[@id='column-form']"
            let chosen = try page.all("\(form)//input[@name='cols'][@checked]").map { $0["value"] }
            #expect(chosen == ["cover.small", "title"])
            #expect(try page.one("\(form)//input[@name='next']")["value"] == "/admin/data/books?order=-title")
        }
    }

    @Test(
        arguments: [
            ("", "1–25 of 60 documents"), ("where=even%20%3D%3D%20true", "1–25 of 30 documents"),
            ("order=n", "1–25 of 60 documents"),
            ("where=even%20%3D%3D%20true&where=n%20%3E%3D%200", "1–25 of 30 documents"),
            ("where=n%20%3D%3D%203", "9 documents"),
        ]
    )
    func `A page shows the number of all documents, also of those that several filters match`(
        query: String,
        count: String
    ) async throws {
        try await TestSite.with(Self.numbers(100..<160)) { site in
            let page = try await site.page("/admin/data/many?size=25&" + query)
            #expect(try page.one("//p[@class='facts']").text == count)
        }
    }

    @Test
    func `The call on the page returns the same documents`() async throws {
        try await TestSite.with(Self.numbers(100..<160)) { site in
            for query in ["", "order=-n&where=even%20%3D%3D%20true"] {
                var page = try await site.page("/admin/data/many?size=25&" + query)
                page = try await site.page(try href(page, "//a[@rel='next']"))
                let shown = try ids(page)
                let found = try await Self.paths(answering: page, on: site)
                #expect(found == shown)
                #expect(try page.one("//pre[@id='call-curl']").text.hasPrefix("curl http://127.0.0.1:8080/rpc"))
            }
        }
    }

    /// Makes the call shown on a page; returns the IDs of the resulting documents.
    private static func paths(answering page: HTMLPage, on site: TestSite) async throws -> [String] {
        let request = Array(try page.one("//pre[@id='call-json']").text.utf8)
        guard case .response(let answer) = await site.pages.calls.handle(request, context: site.pages.context) else { return [] }
        let documents = try JSONText(answer.joined()).root["result"]?["documents"]?.elements
        var ids: [String] = []
        for document in documents.map({ Array($0) }) ?? [] {
            ids.append(try DocumentPath(document["path"]?.string ?? "").id.key.string)
        }
        return ids
    }

    @Test
    func `Paging works with sort values that are too long for a URL`() async throws {
        var writes: [Write] = []
        for number in 100..<130 {
            writes.append(
                .create(
                    try DocumentPath("long/d\(number)"),
                    ["text": .string("\(number % 3)" + String(repeating: "x", count: 5_000))]
                )
            )
        }
        try await TestSite.with(writes) { site in
            let first = try await site.page("/admin/data/long?order=text&size=25")
            let next = try href(first, "//a[@rel='next']")
            #expect(next.utf8.count < 200)
            let second = try await site.page(next)
            #expect(try ids(first).count == 25)
            let all = try ids(first) + ids(second)
            #expect(Set(all).count == 30)
        }
    }
}

@Suite("Collection views")
struct CollectionViewTests {
    @Test(
        arguments: [
            ("collection-colors", "/admin/data/colors?view=colors"), ("collection-json", "/admin/data/colors?view=json"),
            ("collection-types", "/admin/data/books?view=types"),
            ("collection-query", "/admin/data/books?where=numberOfPages%20%3E%3D%20200&order=-numberOfPages&cols=title"),
            ("collection-error", "/admin/data/books?f=numberOfPages&op=%3E&t=integer&v=many"),
            ("collection-zoomed", "/admin/data/locations?view=map&box=-123,38,1"),
        ]
    )
    func `Views match their golden files and are well-formed`(name: String, address: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(address)
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "\(name).html")
        }
    }

    @Test
    func `Of many fields, the most frequent ones are shown and suggested`() async throws {
        let rare = (100..<220).map { (UTF8Key("a\($0)"), Value.integer(1)) }
        let writes = try (0..<3).map { number in
            try Write.create(DocumentPath("wide/d\(number)"), MapValue((number == 0 ? rare : []) + [("z", .map(["y": .null]))]))
        }
        try await TestSite.with(writes) { site in
            let table = try await site.page("/admin/data/wide")
            let columns = try table.all("//table[contains(@class,'documents')]/thead//th").compactMap { $0["data-field"] }
            #expect(columns.filter { $0 != "__name__" } == (100..<159).map { "a\($0)" } + ["z"])
            for address in ["/admin/data/wide", "/admin/query?in=wide"] {
                let fields = try await site.page(address).all("//datalist[@id='known-fields']/option").map { $0["value"] }
                #expect(fields == (100..<198).map { "a\($0)" } + ["z", "z.y"], "\(address)")
            }
            let types = try await site.page("/admin/data/wide?view=types")
            #expect(try types.texts("//main//tbody//th[@scope='row']").last == "z")
        }
    }

    @Test
    func `Integers and doubles in a column are not of different types`() async throws {
        let values: [Value] = [.integer(5), .double(10.5), .string("free"), .integer(7), .string("sold out")]
        let writes = try values.enumerated().map { index, value in
            try Write.create(DocumentPath("shop/p\(index)"), ["price": .double(Double(index)), "sold": value])
        }
        let numbers = [try Write.set(DocumentPath("shop/p0"), ["price": .integer(5), "sold": .integer(1)])]
        try await TestSite.with(writes + numbers) { site in
            let page = try await site.page("/admin/data/shop?cols=price&cols=sold")
            #expect(try page.texts("//thead//th/span[@class='type']") == ["double · integer"])
            #expect(try page.texts("//thead//th/span[@class='type unusual']") == ["integer · double · string"])
            // There are more numbers than strings.
            #expect(try page.texts("//td[@class='unusual-cell']/span[@class='type unusual']") == ["string", "string"])
        }
    }

    @Test
    func `The types view counts types and lists documents with unusual types`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page("/admin/data/books?view=types")
            let row = "//tr[th='numberOfPages']"
            #expect(try page.texts("\(row)/td[1]//li") == ["number 4", "string 1"])
            #expect(try page.texts("\(row)/td[2]//li/a") == ["invalid-data"])
            #expect(try page.all("//ul[@class='rare']").count == 1)
            let table = try await site.page(try href(page, "\(row)/td[1]//a[text()='string']"))
            #expect(try table.texts("//tbody/tr/th") == ["invalid-data"])
        }
    }

    @Test
    func `The index distinguishes every type`() async throws {
        let path = try DocumentPath("other/thing")
        let values: [Value] = [
            .null, .boolean(false), .integer(.min), .double(-.infinity), .double(.nan),
            .timestamp(try Timestamp(microseconds: 0)),
            .string(""), .bytes([]), .reference(path), .geoPoint(try GeoPoint(validatingLatitude: -90, longitude: -180)),
            .array([]), .vector([0]), .map([:]),
        ]
        var writes: [Write] = []
        for (number, value) in values.enumerated() {
            writes.append(.create(try DocumentPath("all/d\(number)"), ["field": value]))
        }
        try await TestSite.with(writes) { site in
            let field = try FieldPath("field")
            for type in IndexedType.allCases {
                let query = try #require(FieldTypeCounts.query(for: type, of: field, in: try CollectionPath("all")))
                let found = try await RunQuery.call(.init(query), in: site.pages.context).documents
                #expect(found.count == (type == .number ? 2 : 1), "\(type)")
                for document in found {
                    let value = try document.decoded().fields[field] ?? .null
                    #expect(type.includes(value), "\(type)")
                }
            }
        }
    }

    @Test(arguments: [("n", true), ("title", false)])
    func `A sorted table mentions missing documents only if there are some`(field: String, isExhaustive: Bool) async throws {
        var writes: [Write] = []
        for number in 0..<60 {
            let fields: MapValue = number == 7 ? ["n": .integer(7)] : ["n": .integer(1), "title": .string("x")]
            writes.append(.create(try DocumentPath("many/\(number)"), fields))
        }
        try await TestSite.with(writes) { site in
            // The number of documents with one field is counted, also with a filter on it.
            let filtered = try await site.page("/admin/data/many?where=n%20%3E%3D%201&order=-n")
            #expect(try filtered.one("//header//p[@class='facts']").text == "1–50 of 60 documents")
            let combined = try await site.page("/admin/data/many?where=n%20%3C%209&where=title%20%3D%3D%20%22x%22&order=title")
            #expect(try combined.one("//header//p[@class='facts']").text == "1–50 of 59 documents")
            let page = try await site.page("/admin/data/many?order=\(field)")
            #expect(try page.all("//p[@class='note sorted']").isEmpty == isExhaustive)
        }
    }

    @Test
    func `The palette has every color, sorted by hue or by document`() async throws {
        let colors = ["#00f", "#808080", "#f00", "#0f08", "no color", "#FF8000"]
        var writes: [Write] = []
        for (number, color) in colors.enumerated() {
            writes.append(.create(try DocumentPath("paint/d\(number)"), ["list": .array([.map(["color": .string(color)])])]))
        }
        try await TestSite.with(writes) { site in
            let byHue = try await site.page("/admin/data/paint?view=colors")
            #expect(try byHue.texts("//bdi[@class='hex']") == ["#f00", "#FF8000", "#0f08", "#00f", "#808080"])
            #expect(try byHue.texts("//ul[@class='palette']//span[@class='note']").first == "list[0].color")
            #expect(try byHue.all("//span[contains(@class,'translucent')]/span[@class='checkerboard']").count == 1)
            let inOrder = try await site.page("/admin/data/paint?view=colors&sort=document")
            #expect(try inOrder.texts("//bdi[@class='hex']") == ["#00f", "#808080", "#f00", "#0f08", "#FF8000"])
        }
    }

    @Test
    func `A map zooms in on clusters and moves across the antimeridian`() async throws {
        var writes: [Write] = []
        for (number, longitude) in [179.5, -179.5, 10.0, 10.1].enumerated() {
            writes.append(
                .create(
                    try DocumentPath("points/p\(number)"),
                    ["at": .geoPoint(try GeoPoint(validatingLatitude: 5, longitude: longitude))]
                )
            )
        }
        try await TestSite.with(writes) { site in
            let world = try await site.page("/admin/data/points?view=map&box=world")
            #expect(try world.texts("//text[@class='cluster-count']") == ["2"])
            let near = try await site.page(try href(world, "//a[path[contains(@class,'cluster')]]"))
            #expect(try near.texts("//tbody/tr/th") == ["p2", "p3"])
            #expect(try near.all("//path[contains(@class,'cluster')]").isEmpty)
            let pacific = try await site.page("/admin/data/points?view=map&box=178,7,4")
            #expect(try pacific.texts("//tbody/tr/th") == ["p0", "p1"])
            let filtered = try await site.page(try href(pacific, "//main/p/a"))
            #expect(try filtered.texts("//tbody/tr/th") == ["p0", "p1"])
            #expect(try filtered.one("//svg")["viewbox"] == "178 -7 4 2")
        }
    }
}
