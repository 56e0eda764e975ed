import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Query page")
struct QueryPageTests {
    private func address(_ query: String, _ rest: String = "") -> String {
        "/admin/query?query=" + PercentEncoding.encode(UTF8Key(query)) + rest
    }

    @Test(
        arguments: [
            ("query", "/admin/query?view=json"),
            ("query-result", #"{"collection": "books", "where": {"field": "numberOfPages", "op": ">", "value": 1}}"#),
            ("query-error", #"{"collection": "books", "where": {"field": "numberOfPages", "op": "like", "value": 1}}"#),
        ]
    )
    func `Pages match their golden files and are well-formed`(name: String, query: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(query.hasPrefix("/") ? query : address(query))
            #expect(page.parseErrors == [])
            try GoldenFile.check(page, "\(name).html")
        }
    }

    @Test
    func `The results of a collection group query show document paths`() async throws {
        let writes: [Write] = [
            .create(try DocumentPath("a/1/notes/n"), ["x": .integer(1)]),
            .create(try DocumentPath("b/2/notes/n"), ["x": .integer(2)]),
        ]
        try await TestSite.with(writes) { site in
            let page = try await site.page(
                address(#"{"collectionGroup": "notes", "orderBy": [{"field": "x", "direction": "desc"}]}"#)
            )
            #expect(try page.texts("//tbody/tr/th") == ["b/2/notes/n", "a/1/notes/n"])
            #expect(try page.all("//tbody/tr/th/a").map { $0["href"] }.first == "/admin/data/b/2/notes/n")
        }
    }

    @Test
    func `Aggregation results are shown`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(
                address(
                    #"""
                    {"collection": "books", "aggregations": [
                        {"count": {}, "alias": "books"}, {"average": "numberOfPages", "alias": "pages"}, {"sum": "numberOfPages", "alias": "sum"}
                    ]}
                    """#
                )
            )
            let names = try page.texts("//section[@aria-labelledby='numbers']//dt")
            let values = try page.texts("//section[@aria-labelledby='numbers']//dd")
            #expect(names == ["books", "pages", "sum"])
            #expect(values == ["5", "816.0", "3264"])
            #expect(try page.one("//pre[@id='call-json']").text.contains("query.aggregate"))
        }
    }

    @Test
    func `An explained query shows its plan and costs`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(address(#"{"collection": "books", "limit": 2}"#, "&explain=1"))
            #expect(!(try page.texts("//ol[@class='plan']/li").isEmpty))
            #expect(try page.texts("//ul[@class='plan-facts']/li").first == "2 results")
        }
    }

    @Test(
        arguments: [
            (#"{"collection": "books", "where": {"field": "a"}}"#, "params.where"),
            (#"{"collection": "books", "limt": 2}"#, "params.limt"),
            (#"{"collection": "books", "where": {"field": "a", "op": "<", "value": null}}"#, "params.where.value"),
        ]
    )
    func `An invalid query shows the parameter path and keeps the text`(query: String, parameterPath: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get(address(query))
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(try page.one("//div[@role='alert']//code").text == parameterPath)
            #expect(try page.one("//textarea").text.trimmingPrefix("\n") == query)
        }
    }

    @Test
    func `Invalid JSON shows a syntax error`() async throws {
        try await TestSite.with { site in
            let response = await site.get(address("{\"collection\": \"books\",}"))
            #expect(response.status == .badRequest)
            let page = try HTMLPage(response.body)
            #expect(try page.one("//div[@role='alert']/p").text.contains("Invalid JSON"))
            #expect(try page.one("//textarea")["data-line"] == "1")
            #expect(try page.one("//textarea")["data-column"] == "24")
        }
    }

    @Test
    func `A syntax error is located in the shown text, in which invisible characters are escaped`() async throws {
        try await TestSite.with { site in
            let page = try HTMLPage(await site.get(address("{\r\n\"\u{1F525}\u{202E}\": 1,}")).body)
            #expect(try page.one("//textarea")["data-line"] == "2")
            #expect(try page.one("//textarea")["data-column"] == "14")
        }
    }

    @Test(arguments: ["", #", "limit": 300"#])
    func `A truncated result is announced`(limit: String) async throws {
        var writes: [Write] = []
        for number in 100..<350 { writes.append(.create(try DocumentPath("many/d\(number)"), ["n": .integer(Int64(number))])) }
        try await TestSite.with(writes) { site in
            let page = try await site.page(address(#"{"collection": "many"\#(limit)}"#))
            #expect(try page.all("//tbody/tr").count == 200)
            #expect(try page.one("//h2[@id='found']").text == "The first 200 documents")
        }
    }

    @Test
    func `A table links to its query`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let table = try await site.page("/admin/data/books?where=numberOfPages%20%3E%20200")
            let links = try table.all("//details//a").compactMap { $0["href"] }.filter { $0.hasPrefix("/admin/query") }
            #expect(links.count == 1)
            let page = try await site.page(links.first ?? "")
            #expect(try page.all("//tbody/tr").count == 4)
        }
    }
}
