import DocumentModel
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Values on document pages")
struct ValueViewTests {
    /// Shows a document with one field; returns the field's type and text.
    private func shown(_ value: Value) async throws -> (type: String, text: String, page: HTMLPage) {
        try await TestSite.with([.create(try DocumentPath("values/one"), ["field": value])]) { site in
            let page = try await site.page("/admin/data/values/one")
            return (try page.texts("//tbody/tr[1]/td[1]")[0], try page.texts("//tbody/tr[1]/td[2]")[0], page)
        }
    }

    @Test(
        arguments: [
            (Value.null, "null", "null"), (.boolean(true), "boolean", "true"), (.integer(1), "integer", "1"),
            (.double(1), "double", "1.0"),
            (.integer(.max), "integer", "9223372036854775807"), (.double(.nan), "double", "NaN"),
            (.double(-.infinity), "double", "-Infinity"),
            (.double(-0.0), "double", "-0.0"), (.string(""), "string", "empty string"),
            (.bytes([0, 255]), "bytes", "00 ff 2 bytes"),
            (.array([]), "array", "0 elements"), (.map(["a": .null]), "map", "1 field"),
            (.vector([1, 0.5]), "vector", "[1.0, 0.5] 2 dimensions"),
            (.vector([1, 2, 3, 4, 5]), "vector", "[1.0, 2.0, 3.0, 4.0, …] 5 dimensions"),
        ]
    )
    func `Every type has a name and a readable form`(value: Value, type: String, text: String) async throws {
        let shown = try await shown(value)
        #expect(shown.type == type)
        #expect(shown.text == text)
    }

    @Test
    func `References link to the document's page`() async throws {
        let page = try await shown(.reference(try DocumentPath("books/a b%"))).page
        let link = try page.one("//a[@class='reference']")
        #expect(link["href"] == "/admin/data/books/a%20b%25")
        #expect(link.text == "books/a b%")
    }

    @Test
    func `Bytes are truncated and counted`() async throws {
        let text = try await shown(.bytes((0..<40).map { UInt8($0) })).text
        #expect(text.hasPrefix("00 01 02"))
        #expect(text.hasSuffix("1f … 40 bytes"))
    }

    @Test
    func `A long string is collapsed`() async throws {
        let long = String(repeating: "lorem ", count: 2_000)
        let page = try await shown(.string(long)).page
        #expect(try page.one("//details/div").text == long)
        #expect(try page.one("//summary/span[@class='note']").text == "12,000 characters")
    }

    @Test(
        arguments: ["#f40", "#f408", "#FD1C48", "#fd1c4880"]
    )
    func `Colors are chips, translucent ones with a swatch`(text: String) async throws {
        let page = try await shown(.string(text)).page
        let chip = try page.one("//span[contains(@class,'chip')]")
        let color = try #require(HexColor(text))
        #expect(chip.text == text)
        #expect(chip["class"] == "chip c-\(color.digits)")
        #expect(try page.all("//span[@class='swatch']").count == (color.isOpaque ? 0 : 1))
    }

    @Test(
        arguments: ["دليل المسافر", "עברית, 42!", "銀河", "می‌خواهم", "👩‍👩‍👧‍👦"]
    )
    func `Text of any script is isolated and unchanged`(text: String) async throws {
        let page = try await shown(.string(text)).page
        let element = try page.one("//td[@class='value']/bdi")
        #expect(Array(element.text.utf8) == Array(text.utf8))
        #expect(element["lang"] == "")
    }

    @Test
    func `JSON escapes invisible characters`() async throws {
        let writes = [Write.create(try DocumentPath("values/one"), ["a\u{202E}": .string("b\u{200B}\u{E0041}\n\u{e9}\u{7f}")])]
        let json = try await TestSite.with(writes) { try await $0.page("/admin/data/values/one?view=json").one("//pre").text }
        #expect(json.contains(##""a\u202e": "b\u200b\udb40\udc41\n"## + "\u{e9}" + ##"\u007f""##))
    }

    @Test
    func `A document with many values shows the number of omitted rows`() async throws {
        let fields = MapValue((0..<2_500).map { (UTF8Key("f\($0)"), .integer($0)) })
        let page = try await TestSite.with([.create(DocumentPath("values/one"), fields)]) { site in
            try await site.page("/admin/data/values/one")
        }
        #expect(try page.all("//tbody/tr").count == 2_000)
        #expect(page.source.contains("500 more rows aren’t shown"))
    }

    @Test
    func `A large array or map has its first values, and a link to the others`() async throws {
        let fields: MapValue = [
            "a": .array((0..<2_500).map { .integer($0) }),
            "b": .map(["c": .map(MapValue((0..<150).map { (UTF8Key("f\($0)"), .integer($0)) }))]),
            "z": .array((0..<100).map { .integer($0) }),
        ]
        try await TestSite.with([.create(DocumentPath("values/one"), fields)]) { site in
            let page = try await site.page("/admin/data/values/one")
            #expect(page.parseErrors == [])
            #expect(try page.all("//tbody/tr").count == 1 + 101 + 2 + 101 + 1 + 100)
            let links = try page.all("//tr[contains(@class,'more')]//a")
            #expect(links.map(\.text) == ["a Show more of the 2,500 elements", "b.c Show more of the 150 fields"])
            let urls = links.map { $0["href"] ?? "" }
            #expect(urls == ["/admin/data/values/one?all=a#more", "/admin/data/values/one?all=b.c#more"])
            let map = try await site.page("/admin/data/values/one?all=b.c")
            #expect(map.parseErrors == [])
            #expect(try map.all("//tbody/tr").count == 1 + 101 + 2 + 151 + 1 + 100)
            #expect(try map.one("//tr[@id='more']")["data-key"]?.hasPrefix("b.c.f") == true)
            #expect(try map.texts("//tr[contains(@class,'more')]//a").last == "b.c Show the first 100")
            let array = try await site.page("/admin/data/values/one?all=a")
            #expect(try array.one("//tr[@id='more']")["data-key"] == "a[100]")
            #expect(array.source.contains("more rows aren’t shown"))
        }
    }

    @Test
    func `A large array beyond the first values of another one has a link to its others`() async throws {
        let inner: Value = .map(["b": .array((0..<150).map { .integer($0) })])
        let fields: MapValue = [
            "a": .array((0..<150).map { .integer($0) } + [inner]), "ab": .array((0..<150).map { .integer($0) }),
        ]
        try await TestSite.with([.create(DocumentPath("values/one"), fields)]) { site in
            let outer = try await site.page("/admin/data/values/one?all=a")
            let link = try #require(try outer.one("//tr[@data-key='a[150].b …']//a")["href"])
            let page = try await site.page(String(link.prefix { $0 != "#" }))
            #expect(page.parseErrors == [])
            #expect(try page.all("//tr[@id='more']").map { $0["data-key"] } == ["a[150].b[100]"])
            #expect(try page.all("//tbody/tr").count == 1 + 151 + 1 + 151 + 1 + 1 + 101)
            let live = try page.one("//*[@id='live']")["data-stream"]
            #expect(live?.contains("&all=a%5B150%5D.b") == true)
        }
    }

    @Test
    func `A map beyond the limit of rows stays beyond it`() async throws {
        let large: Value = .map(MapValue((0..<150).map { (UTF8Key("f\($0)"), .integer($0)) }))
        let inner: Value = .map(MapValue((0..<50).map { (UTF8Key("f\($0)"), .integer($0)) }))
        let fields: MapValue = ["a": .array(Array(repeating: inner, count: 50)), "b": large]
        try await TestSite.with([.create(DocumentPath("values/one"), fields)]) { site in
            let page = try await site.page("/admin/data/values/one?all=b")
            #expect(try page.all("//tbody/tr").count == 2_000)
        }
    }
}
