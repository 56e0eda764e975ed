import DocumentModel
import HTTPTypes
import HearthAPI
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Filters by the type and by the value of a field")
struct ValueFilterTests {
    private func value(_ text: String) throws -> Value { try ValueInput(text, as: .json).value() }

    @Test(
        arguments: [
            ("f=code&op=%3D%3D&v=42", #"code == "42""#), ("f=code&op=%3D%3D&t=integer&v=42", "code == 42"),
            ("f=number&op=%3D%3D&v=42", "number == 42"), ("f=tags&op=array-contains&v=42", #"tags array-contains "42""#),
            ("f=tags&op=array-contains-any&v=42,x", #"tags array-contains-any ["42","x"]"#),
            ("f=sizes&op=array-contains&v=42", "sizes array-contains 42"), ("f=code&op=in&v=1,2", #"code in ["1","2"]"#),
            ("f=author.id&op=%3D%3D&v=42", #"author.id == "42""#), ("f=unknown&op=%3D%3D&v=42", "unknown == 42"),
            // Only a document beyond the sample has the field: the index knows its type.
            ("f=rare&op=%3D%3D&v=42", #"rare == "42""#),
        ]
    )
    func `A value is read as the type that the field holds, unless the type is chosen`(form: String, filter: String) async throws
    {
        var writes: [Write] = []
        for number in 100..<230 {
            let fields: MapValue = [
                "code": .string("\(number)"), "number": .integer(Int64(number)), "tags": .array([.string("42")]),
                "sizes": .array([.integer(42)]), "author": .map(["id": .string("7")]),
            ]
            let rare: MapValue = number == 229 ? ["rare": .string("42")] : [:]
            writes.append(.create(try DocumentPath("items/d\(number)"), fields.adding(rare)))
        }
        try await TestSite.with(writes) { site in
            let response = await site.get("/admin/data/items?" + form)
            #expect(response.headers[.location] == "/admin/data/items?where=" + PercentEncoding.encode(UTF8Key(filter)))
        }
    }

    @Test(
        arguments: [
            ("", "only", "1", [#"a == 1"#]), ("", "not", "1", ["a != 1"]), ("", "only", "null", ["a == null"]),
            ("", "only", #"{"$double":"NaN"}"#, [#"a == {"$double":"NaN"}"#]), ("", "only", "[1,2]", ["a == [1,2]"]),
            ("where=b == 2&where=a > 0&order=-b", "only", "1", ["b == 2", "a == 1"]),
            ("where=a == 1", "not", "1", ["a != 1"]), ("where=a != 1", "not", "2", ["a not-in [1,2]"]),
            ("where=a not-in [1,2]", "not", "3", ["a not-in [1,2,3]"]), ("where=a > 0", "not", "1", ["a > 0", "a != 1"]),
            ("where=a != null", "not", "1", ["a != 1"]), ("order=-__name__", "not", "null", ["a != null"]),
            ("where=a != 1", "not", "null", ["a != 1"]),
        ]
    )
    func `A value is added to the filters of the page`(query: String, relation: String, json: String, filters: [String]) throws {
        let path = try CollectionPath("items")
        let request = try CollectionRequest(path: path, query: URLQuery(query.replacing(" ", with: "%20")))
        let filter = ValueFilter(
            field: try FieldPath("a"),
            value: try value(json),
            relation: relation == "only" ? .only : .not
        )
        let applied = try #require(filter.applied(to: request))
        #expect(applied.filters.compactMap(\.text?.string) == filters)
        let orders = applied.orders.map(\.text)
        #expect(orders == (query.contains("order=-b") ? ["-b"] : []))
        // The server accepts the query.
        _ = try CollectionQuery(applied)
    }

    @Test
    func `Cells have links that filter by their values`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            var page = try await site.page("/admin/data/books?order=title&size=25")
            #expect(try page.all("//td//span[@class='value-filters']").isEmpty)
            let toggle = try page.one("//p[@class='tool-link']/a[.='Filter by or edit a value']")["href"]
            page = try await site.page(try #require(toggle))
            #expect(page.parseErrors == [])
            let links = try page.all("//tr[th/a='invalid-data']/td[contains(.,'twohundredfifty')]//a")
            #expect(links.map { $0["aria-label"] } == ["Only this value", "Not this value", "Edit value"])
            let only = try await site.page(try #require(links.first?["href"]))
            #expect(try only.texts("//tbody/tr/th") == ["invalid-data"])
            #expect(try only.one("//input[@name='f']")["value"] == "numberOfPages")
            #expect(try only.all("//td//span[@class='value-filters']").isEmpty)
            let not = try await site.page(try #require(links.dropLast().last?["href"]))
            #expect(try not.all("//tbody/tr/th").count == 4)
            #expect(try not.all("//tbody/tr/th[.='invalid-data']").isEmpty)
        }
    }

    @Test
    func `The script's links filter by the value that the document has now`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let only = await site.get("/admin/data/books?only=author&of=invalid-data&order=-title")
            #expect(only.status == .seeOther)
            #expect(only.headers[.location] == "/admin/data/books?where=author%20%3D%3D%20%22Peter%22&order=-title")
            let not = await site.get("/admin/data/books?not=author&of=invalid-data")
            #expect(not.headers[.location] == "/admin/data/books?where=author%20%21%3D%20%22Peter%22")
            #expect(await site.get("/admin/data/books?only=author&of=missing").status == .notFound)
            #expect(await site.get("/admin/data/books?only=a..b&of=hitchhiker").status == .badRequest)
            #expect(await site.get("/admin/data/books?only=none&of=hitchhiker").headers[.location] == "/admin/data/books")
        }
    }

    @Test
    func `A document's fields and elements link to the documents with their values`() async throws {
        let writes: [Write] = [
            .create(
                try DocumentPath("items/a"),
                [
                    "n": .integer(1), "map": .map(["x y": .string("v")]),
                    "list": .array([.string("e"), .map(["inner": .integer(2)])]),
                    "long": .string(String(repeating: "x", count: 5_000)),
                ]
            )
        ]
        try await TestSite.with(writes) { site in
            let page = try await site.page("/admin/data/items/a")
            func links(_ key: String) throws -> [String] {
                try page.all("//tr[@data-key='\(key)']//span[@class='value-filters']/a[@class!='edit-value']").compactMap {
                    $0["href"]
                }
            }
            #expect(try links("n") == ["/admin/data/items?where=n%20%3D%3D%201", "/admin/data/items?where=n%20%21%3D%201"])
            #expect(try links("map.`x y`").first == "/admin/data/items?where=map.%60x%20y%60%20%3D%3D%20%22v%22")
            #expect(try links("list[0]") == ["/admin/data/items?where=list%20array-contains%20%22e%22"])
            #expect(try links("long") == [])
            for link in try page.all("//span[@class='value-filters']/a[@class!='edit-value']").compactMap({ $0["href"] })
            where !link.contains("%21") {
                let found = try await site.page(link)
                #expect(try found.texts("//tbody/tr/th") == ["a"])
            }
        }
    }
}
