import DocumentModel
import HTTPTypes
import HearthHTTP
import Testing

@testable import HearthAdmin

@Suite("Table layout")
struct TableLayoutTests {
    private static let url = "/admin/data/books"

    /// Submits a change of the columns; returns the cookie that the browser keeps.
    private static func keep(
        _ form: String,
        on site: TestSite,
        cookies: [String] = []
    ) async throws -> (cookie: String, field: String) {
        let response = await site.post("\(url)?columns", form, cookies: cookies)
        #expect(response.status == .seeOther)
        let field = try #require(response.headers[values: .setCookie].first)
        return (String(field.prefix { $0 != ";" }), field)
    }

    private static func columns(_ page: HTMLPage) throws -> [String] {
        try page.all("//table[contains(@class,'documents')]/thead//th").compactMap { $0["data-field"] }
    }

    @Test
    func `The order, widths and pins of columns are kept for the collection`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let page = try await site.page(Self.url)
            let before = try Self.columns(page)
            var form = try BrowserForm(page, "//form[@id='column-form']").text
            // Of the fields with the same name, a browser sends one for each row.
            let fields = before.enumerated().map { index, field in
                "cols=\(field)&field=\(field)&position=\(before.count - index)&width=\(index == 0 ? "240" : "")"
            }
            form = fields.joined(separator: "&") + "&pin=\(before[1])&next=\(Self.url)"
            let (cookie, field) = try await Self.keep(form, on: site)
            #expect(field.contains("; Path=/admin/data/books; Max-Age=31536000;"))
            let kept = try HTMLPage(await site.get(Self.url, cookies: [cookie]).body)
            #expect(kept.parseErrors == [])
            let rest = before.reversed().filter { $0 != before[1] }
            #expect(try Self.columns(kept) == [before[1]] + rest)
            let style = try kept.one("//style").text
            #expect(style.contains(":nth-child(3):where(:not([colspan])){width:160px;min-width:160px;max-width:160px}"))
            #expect(style.contains("inset-inline-start:calc(2.1rem + 192px)"))
            let number = 4 + (try #require(rest.firstIndex(of: before[0])))
            #expect(style.contains(":nth-child(\(number)):where(:not([colspan])){width:240px"))
            // Another collection has its own, also one below.
            let other = try HTMLPage(await site.get("/admin/data/books/hitchhiker/reviews", cookies: [cookie]).body)
            #expect(!other.source.contains("<style"))
            let reset = try await Self.keep("do=reset&next=\(Self.url)", on: site, cookies: [cookie])
            #expect(reset.field.contains("table-1=; Path=/admin/data/books; Max-Age=0;"))
        }
    }

    @Test
    func `A width does not choose columns, and is limited`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let (cookie, _) = try await Self.keep("do=width&field=title&width=9000&next=/admin/", on: site)
            #expect(cookie == "table-1=title=1200")
            let page = try HTMLPage(await site.get(Self.url, cookies: [cookie]).body)
            #expect(try Self.columns(page) == Self.columns(await site.page(Self.url)))
            let (ids, _) = try await Self.keep("do=width&field=__name__&width=300&next=/admin/", on: site, cookies: [cookie])
            #expect(ids == "table-1=__name__=300&title=1200")
            let (none, _) = try await Self.keep("do=width&field=title&width=&next=/admin/", on: site, cookies: [ids])
            #expect(none == "table-1=__name__=300")
        }
    }

    @Test
    func `Columns in a URL take precedence over those that are kept, which later pages of the table have`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let (cookie, _) = try await Self.keep("cols=author&next=/admin/", on: site)
            #expect(try Self.columns(HTMLPage(await site.get(Self.url, cookies: [cookie]).body)) == ["author"])
            #expect(try Self.columns(HTMLPage(await site.get("\(Self.url)?cols=title", cookies: [cookie]).body)) == ["title"])
            let sort = try HTMLPage(await site.get(Self.url, cookies: [cookie]).body).all("//th[@data-field]/a").first?["href"]
            #expect(sort?.contains("cols=author") == true)
            for view in ["json", "types", "panels"] {
                let page = try HTMLPage(await site.get("\(Self.url)?view=\(view)", cookies: [cookie]).body)
                #expect(!page.source.contains("cols=author"), "in \(view)")
            }
        }
    }

    @Test
    func `The columns change only by a form with a limited number of them`() async throws {
        try await TestSite.with(GuideData.writes()) { site in
            for method in [HTTPRequest.Method.get, .head] {
                let response = await site.get("\(Self.url)?columns", method: method)
                #expect(response.status == .methodNotAllowed)
                #expect(response.headers[.allow] == "POST, OPTIONS")
                #expect(response.headers[.setCookie] == nil)
            }
            for name in ["cols", "field"] {
                let form = (0...TableLayout.maximumColumnCount).map { "\(name)=c\($0)" }.joined(separator: "&")
                let response = await site.post("\(Self.url)?columns", form)
                #expect(response.status == .badRequest)
                let text = try HTMLPage(response.body).one("//main").text
                #expect(text.contains("A table has at most 500 columns, but the form has 501."))
            }
        }
    }

    @Test
    func `The layout of a collection is not kept if browsers would ignore the path of the cookie`() async throws {
        try await TestSite.with { site in
            for (count, status) in [(1_024 - 12, .seeOther), (1_024 - 11, .badRequest)] as [(Int, HTTPResponse.Status)] {
                let url = "/admin/data/" + String(repeating: "c", count: count - 400) + "/d/" + String(repeating: "e", count: 397)
                let response = await site.post("\(url)?columns", "cols=title&next=/admin/")
                #expect(response.status == status)
                #expect((response.headers[.setCookie] == nil) == (status == .badRequest))
            }
        }
    }

    @Test(
        arguments: [
            "", "title", "=c", "title=cpx&%zz=c&author=c99999999999999999999", "title=c-5", "title=p40&title=p60", "\u{1}=c",
        ]
    )
    func `Malformed cookies are ignored`(value: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            #expect(await site.get(Self.url, cookies: ["table-1=\(value)"]).status == .ok)
        }
    }

    @Test
    func `A cookie stays within the limit of browsers`() throws {
        var layout = TableLayout()
        layout.columns = try (0..<500).map { try FieldPath("column\($0)") }
        let cookie = try layout.cookie(for: try CollectionPath("books"))
        #expect(cookie.utf8.count < 1_700)
        let read = TableLayout(of: try CollectionPath("books"), in: Cookies([String(cookie.prefix { $0 != ";" })]))
        #expect(read.columns == Array(layout.columns.prefix(read.columns.count)))
        #expect(read.columns.count > 100)
    }
}
