import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Query builder")
struct QueryBuilderTests {
    private func ids(_ page: HTMLPage) throws -> [String] {
        try page.texts("//section[@aria-labelledby='found']//tbody/tr/th")
    }

    /// The items of a URL with the query that they mean.
    struct Sample: Sendable, CustomTestStringConvertible {
        let items: String
        let json: String
        /// The number of documents of the guide that match.
        let count: Int

        init(_ items: String, _ json: String, count: Int) {
            (self.items, self.json, self.count) = (items, json, count)
        }

        var testDescription: String { items }
    }

    private static let samples = [
        Sample("in=books", #"{"collection":"books"}"#, count: 5),
        Sample(
            "in=books&g=0&f=author&op=%3D%3D&t=string&v=Peter",
            #"{"collection":"books","where":{"field":"author","op":"==","value":"Peter"}}"#,
            count: 1
        ),
        Sample(
            "in=books&g=0&f=title&op=prefix&t=string&v=The+H&o=title&d=desc&p=&limit=2",
            #"""
            {"collection":"books",
            "where":{"and":[{"field":"title","op":">=","value":"The H"},{"field":"title","op":"<","value":"The I"}]},
            "orderBy":[{"field":"title","direction":"desc"}],"limit":2}
            """#,
            count: 2
        ),
        Sample(
            "in=books&m=any&g=0&f=author&op=%3D%3D&t=string&v=Peter&g=0&f=genres&op=array-contains&t=string&v=Comedy",
            #"""
            {"collection":"books","where":{"or":[
            {"field":"author","op":"==","value":"Peter"},{"field":"genres","op":"array-contains","value":"Comedy"}]}}
            """#,
            count: 2
        ),
        Sample(
            "in=books&m=all&m=any&g=0&f=numberOfPages&op=%3E&t=integer&v=1"
                + "&g=1&f=title&op=prefix&t=string&v=The+U&g=1&f=genres&op=array-contains&t=string&v=Comedy",
            #"""
            {"collection":"books","where":{"and":[{"field":"numberOfPages","op":">","value":1},{"or":[
            {"and":[{"field":"title","op":">=","value":"The U"},{"field":"title","op":"<","value":"The V"}]},
            {"field":"genres","op":"array-contains","value":"Comedy"}]}]}}
            """#,
            count: 2
        ),
        Sample(
            "scope=group&in=locations&g=0&f=location&op=near&t=geo+point&v=37.4,-122.1,100+km"
                + "&o=location&d=nearest&p=37.4,-122.1&offset=1",
            #"""
            {"collectionGroup":"locations","where":{"field":"location","op":"near",
            "value":{"center":{"$geoPoint":{"latitude":37.4,"longitude":-122.1}},"radius":100000.0}},
            "orderBy":[{"field":"location","distanceFrom":{"$geoPoint":{"latitude":37.4,"longitude":-122.1}}}],"offset":1}
            """#,
            count: 1
        ),
    ]

    @Test(arguments: samples)
    func `A form is a query and its URL shows the results`(sample: Sample) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/query?" + sample.items)
            #expect(response.status == .ok)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            let expected = JSONPrettyPrinter.text(try JSONText(sample.json).root)
            let params = try page.one("//pre[@id='params-json']").text
            #expect(params == expected)
            let documents = try ids(page)
            #expect(documents.count == sample.count)
            // The form has the query, so that it can be changed and sent again.
            let collection = try BrowserForm(page, "//form[@id='builder']")["in"]
            #expect(collection == (sample.items.contains("locations") ? "locations" : "books"))
            let count = try await Self.answerCount(of: page, on: site)
            #expect(count == sample.count)
        }
    }

    /// Makes the call shown on a page; returns the number of documents in the response.
    private static func answerCount(of page: HTMLPage, on site: TestSite) async throws -> Int? {
        let call = Array(try page.one("//pre[@id='call-json']").text.utf8)
        guard case .response(let answer) = await site.pages.calls.handle(call, context: site.pages.context) else { return nil }
        let documents = try JSONText(answer.joined()).root["result"]?["documents"]?.elements
        return documents.map { Array($0).count }
    }

    @Test
    func `Operands without a type get that of the field, and blank rows are left out of the URL`() async throws {
        let writes: [Write] = [.create(try DocumentPath("items/a"), ["code": .string("42")])]
        try await TestSite.with(writes) { site in
            let response = await site.get(
                "/admin/query?scope=collection&in=items&m=all&g=0&f=code&op=%3D%3D&t=auto&v=42&g=0&f=&op=&t=&v=&o=&d=asc&p="
            )
            #expect(response.headers[.location] == "/admin/query?in=items&g=0&f=code&op=%3D%3D&t=string&v=42")
            let page = try await site.page(response.headers[.location] ?? "")
            #expect(try ids(page) == ["items/a"])
            #expect(try page.one("//select[@name='t']/option[@selected]")["value"] == "auto")
        }
    }

    @Test(
        arguments: [
            ("in=a/b", "in", "a/b"), ("in=&limit=2", "in", ""), ("scope=group&in=a/b/c", "in", "a/b/c"),
            ("in=books&g=0&f=a&op=like&t=string&v=x", "f", "Unknown operator"),
            ("in=books&g=0&f=a&op=%3D%3D&t=colour&v=x", "f", "Unknown type"),
            ("in=books&g=0&f=a&op=%3D%3D&t=integer&v=twelve", "v", "Expected a 64-bit integer"),
            ("in=books&g=0&f=a..b&op=%3D%3D&t=string&v=x", "f", "empty name"),
            ("in=books&g=0&f=a&op=prefix&t=integer&v=1", "v", "only strings"),
            ("in=books&g=0&f=a&op=%3C&t=null&v=", "v", "cannot compare with null"),
            ("in=books&g=0&f=a&op=%21%3D&t=integer&v=1&g=0&f=b&op=%21%3D&t=integer&v=1", "f", "at most one"),
            ("in=books&o=a&d=sideways&p=", "o", "Unknown direction"), ("in=books&o=a&d=nearest&p=here", "p", "latitude"),
            ("in=books&o=a&d=asc&p=&o=a&d=asc&p=", "o", "twice"), ("in=books&limit=0", "limit", "from 1"),
            ("in=books&limit=many", "limit", "many"), ("in=books&offset=-1", "offset", "from 0"),
            ("in=books&offset=99999999999999999999", "offset", "found"),
        ]
    )
    func `An invalid field is marked and has a message`(items: String, name: String, message: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get("/admin/query?" + items)
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(page.parseErrors == [])
            let marked = try page.all("//input[@name='\(name)'][@aria-invalid='true']")
            #expect(marked.count == 1)
            let ids = marked.first?["aria-describedby"]?.split(separator: " ") ?? []
            let text = try page.texts("//p[@id='\(ids.first ?? "")']").joined()
            #expect(text.contains(message))
            #expect(try page.all("//pre[@id='params-json']").isEmpty)
        }
    }

    @Test
    func `Filters with more than 30 disjuncts have a message, as have too many rows`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let list = (1...6).map(String.init).joined(separator: ",")
            let row = { (field: String) in "&g=0&f=\(field)&op=in&t=integer&v=\(list)" }
            let response = await site.get("/admin/query?in=books" + row("a") + row("b"))
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(try page.one("//form//p[@role='alert']").text.contains("at most 30 disjunctions"))
            let many = await site.get("/admin/query?in=books" + String(repeating: row("a"), count: 22))
            #expect(many.status == .badRequest)
            #expect(try HTMLPage(many.body).all("//fieldset[@class='invalid']").count == 2)
        }
    }

    @Test
    func `Rows and groups are added and removed without running the query`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let items = "/admin/query?in=books&m=all&g=0&f=author&op=%3D%3D&t=string&v=x"
            var page = try await site.page(items + "&add=0")
            #expect(try page.all("//input[@name='f']").map { $0["value"] } == ["author", ""])
            #expect(try page.all("//section").isEmpty)
            page = try await site.page(items + "&group=1")
            #expect(try page.all("//input[@name='g']").map { $0["value"] } == ["0", "1", "1"])
            #expect(try page.all("//select[@name='m']/option[@selected]").map { $0["value"] } == ["all", "any"])
            page = try await site.page(items + "&remove=0")
            #expect(try page.all("//input[@name='f']").map { $0["value"] } == [""])
            page = try await site.page(items + "&o=title&d=desc&p=&order=1")
            #expect(try page.all("//input[@name='o']").map { $0["value"] } == ["title", ""])
            page = try await site.page(items + "&o=title&d=desc&p=&unorder=0")
            #expect(try page.all("//input[@name='o']").map { $0["value"] } == [""])
            // Indices of rows that don't exist change nothing.
            for button in ["add=9", "remove=9", "unorder=9", "remove=-1", "add=x"] {
                #expect(await site.get(items + "&" + button).status == .ok)
            }
        }
    }

    @Test(arguments: ["abc", "a\u{d7ff}", "a\u{10ffff}", "é😀"])
    func `The strings with a prefix are those before its successor`(prefix: String) throws {
        let end = try #require(FilterRow.successor(ofPrefix: prefix))
        for suffix in ["", "a", "\u{10ffff}\u{10ffff}"] {
            #expect((prefix + suffix).unicodeScalars.lexicographicallyPrecedes(end.unicodeScalars))
        }
        #expect(!prefix.unicodeScalars.elementsEqual(end.unicodeScalars))
        #expect(FilterRow.successor(ofPrefix: "\u{10ffff}") == nil)
    }

    @Test
    func `A collection page leads to the builder with its filters and its order`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let table = try await site.page("/admin/data/books?where=title%20prefix%20%22The%20U%22&order=-title")
            #expect(try table.texts("//tbody/tr/th") == ["hitchhiker"])
            let link = try table.one("//p[@class='tool-link']/a[.='Query builder']")["href"]
            let page = try await site.page(try #require(link))
            #expect(try ids(page) == ["books/hitchhiker"])
            #expect(try page.one("//select[@name='op']/option[@selected]")["value"] == "prefix")
        }
    }

    /// A query that a composite index would serve.
    static let explained =
        "/admin/query?in=items&g=0&f=kind&op=%3D%3D&t=string&v=a&o=size&d=desc&p=&limit=3&explain=1"

    static func items() throws -> [Write] {
        try (100..<160).map { number in
            let kind = number.isMultiple(of: 3) ? "a" : "b"
            return .create(
                try DocumentPath("items/d\(number)"),
                ["kind": .string(kind), "size": .integer(Int64(number * 7 % 50))]
            )
        }
    }

    @Test
    func `The index that an explained query would benefit from is created on its page`() async throws {
        try await TestSite.with(Self.items()) { site in
            let page = try await site.page(Self.explained)
            #expect(try page.texts("//div[@class='index-advice']//code") == ["kind ↑", "size ↓"])
            let form = try BrowserForm(page, "//div[@class='index-advice']/form")
            let created = await site.post("/admin/settings", form.with(["do": "create"]).text)
            #expect(created.status == .seeOther)
            #expect(created.headers[.location] == Self.explained)
            let report = try await ListIndexes.call((), in: site.pages.context)
            let fields = report.indexes.map(\.definition.fields.count)
            #expect(fields == [2])
            // The planner uses the index as soon as it is built, and the page doesn't offer it again.
            var plan: [String] = []
            while !plan.joined().contains("composite index") {
                let again = try await site.page(Self.explained)
                guard try again.all("//div[@class='index-advice']").isEmpty else {
                    Issue.record("the index is offered again")
                    return
                }
                plan = try again.texts("//ol[@class='plan']/li")
                await Task.yield()
            }
            #expect(plan.first?.hasPrefix("Scan composite index (kind") == true)
            // A query that reads only its result, or that has alternatives, needs no index.
            for query in ["in=items&o=size&d=asc&p=&limit=3", "in=items&g=0&f=kind&op=in&t=JSON&v=%5B%22a%22,%22b%22%5D"] {
                let other = try await site.page("/admin/query?explain=1&" + query)
                #expect(try other.all("//div[@class='index-advice']").isEmpty)
            }
        }
    }

    @Test(arguments: [(Role.reader, 0), (.writer, 0), (.admin, 1)])
    func `Only admins have a button that creates an index`(role: Role, count: Int) async throws {
        try await TestSite.with(Self.items()) { site in
            let key = try await site.keys.create(.init(role: role))
            let caller = try site.keys.authenticate(Array(key.text.utf8))
            let page = try HTMLPage(await site.get(Self.explained, as: caller).body)
            #expect(try page.all("//ol[@class='plan']").count == 1)
            #expect(try page.all("//div[@class='index-advice']//button").count == count)
        }
    }
}
