import DocumentModel
import HTTPTypes
import Testing
import UTF8Text

@testable import HearthAdmin

/// Valid IDs that careless code would misinterpret.
let hostileIDs = [
    "a%2Fb", "%", "%%", "%2e%2e", "...", ".a", "a.", "a..b", "a b", " ", "a+b", "a&b=c", "?", "#", "a?b#c", ":", "@", "\\",
    "..\\x",
    "\"onclick=\"", "'", "<script>", "é", "e\u{301}", "\u{301}", "..\u{2215}\u{301}x", "\u{202E}txt", "\u{200B}", "👩‍👩‍👧‍👦", "عربي",
    "日本語",
    "a\nb", "a\r\nb", "\u{7f}", "~-_", "__id7__", "edit", "view=json", "K", "\u{212A}", String(repeating: "x", count: 1_500),
    String(repeating: "é", count: 750),
]

@Suite("Routing")
struct RoutingTests {
    @Test(
        arguments: [
            "/admin/?new=%ff", "/admin/data/books?live=%ff", "/admin/data/books?view=%", "/admin/data/books?where=%c3",
            "/admin/data/books?export=ndjson&%zz", "/admin/data/books/hitchhiker?edit&x=%ed%a0%80", "/admin/query?query=%ff",
            "/admin/import?upload=%ff", "/admin/work?%ff=1", "/admin/settings?a=%f", "/rpc/docs?%fe",
        ]
    )
    func `A query that isn't percent-encoded UTF-8 is rejected on every route`(address: String) async throws {
        try await TestSite.with(GuideData.writes()) { site in
            let response = await site.get(address)
            #expect(response.status == .badRequest)
            #expect(response.live == nil)
            let page = try HTMLPage(response.body)
            #expect(try page.texts("//h1") == ["Invalid URL"])
        }
    }

    @Test(arguments: hostileIDs)
    func `A document's URL is parsed to the same path for any ID`(id: String) throws {
        let path = DocumentPath(collection: try CollectionPath("books"), id: try DocumentPath.ID(id))
        let url = AdminURL.document(path)
        #expect(url.utf8.allSatisfy(Self.isPlain))
        #expect(AdminRoute(rawPath: url) == .data(path.segments))
        guard case .document(let found) = try ResourcePath(path.segments) else {
            Issue.record("not a document")
            return
        }
        #expect(found == path)
    }

    @Test(arguments: hostileIDs.filter { $0 != "__id7__" })
    func `A collection's URL is parsed to the same path for any ID`(id: String) throws {
        let path = CollectionPath(parent: try DocumentPath("books/hitchhiker"), id: try CollectionID(id))
        let url = AdminURL.collection(path, query: [("after", UTF8Key(id))])
        let parts = url.utf8.split(separator: UInt8(ascii: "?"))
        #expect(AdminRoute(rawPath: String(Substring(parts[0]))) == .data(path.segments))
        #expect(URLQuery(String(Substring(parts[1])))["after"] == UTF8Key(id))
    }

    @Test
    func `Different IDs have different URLs`() throws {
        let urls = try hostileIDs.map { id in
            UTF8Key(AdminURL.document(DocumentPath(collection: try CollectionPath("books"), id: try DocumentPath.ID(id))))
        }
        #expect(Set(urls).count == hostileIDs.count)
    }

    @Test(
        arguments: [
            ("a.b", "a.b"), (".a", "%2Ea"), ("a.", "a%2E"), ("...", "%2E.%2E"), ("a/b", "a%2Fb"), ("é", "%C3%A9"),
            ("e\u{301}", "e%CC%81"), ("a+b ~", "a%2Bb%20~"), ("\u{1F525}", "%F0%9F%94%A5"), ("", ""),
        ]
    )
    func `Path segments leave only letters, digits, - _ ~ and inner dots unencoded`(text: String, encoded: String) {
        #expect(PercentEncoding.encode(UTF8Key(text)) == encoded)
    }

    @Test(
        arguments: [
            ("/", AdminRoute.moved("/admin/")), ("/admin", .moved("/admin/")), ("/admin/", .overview),
            ("/admin/data", .moved("/admin/")), ("/admin/find", .find),
            ("/admin/data/", .moved("/admin/")), ("/admin/data/books", .data(["books"])),
            ("/admin/data/books/", .moved("/admin/data/books")),
            ("/admin/data/b%20s/", .moved("/admin/data/b%20s")), ("/admin/data/a%2Fb", .data(["a/b"])),
            ("/admin/data/%2E%2E", .data([".."])),
            ("/admin/assets/admin.css", .asset("admin.css")), ("/admin/assets/../admin.css", .unknown),
            ("/admin/assets/..%2F..%2Fetc%2Fpasswd", .asset("../../etc/passwd")), ("/admin/x", .unknown),
            ("/admin//data/books", .unknown),
            ("/admin/data//books", .unknown), ("/admin/data/books//", .unknown), ("/adminx/data/books", .unknown), ("", .unknown),
            ("/admin/data/%", .malformed), ("/admin/data/%zz", .malformed), ("/admin/data/%FF", .malformed),
            ("/admin/data/%C0%AF", .malformed),
            ("/admin/data/%ED%A0%80", .malformed), ("/admin/data/%２０", .malformed), ("/%61dmin/data/books", .data(["books"])),
        ]
    )
    func `Paths are parsed to routes`(path: String, route: AdminRoute) {
        #expect(AdminRoute(rawPath: path) == route)
    }

    @Test(
        arguments: [
            ("after=a%26b", "a&b"), ("x=1&after=2&after=3", "2"), ("after=a+b", "a b"), ("after=a%2Bb", "a+b"), ("after=", ""),
            ("after", ""),
            ("after=a=b", "a=b"),
        ]
    )
    func `Query items are decoded as bytes`(raw: String, value: String) {
        #expect(URLQuery(raw)["after"] == UTF8Key(value))
    }

    @Test(arguments: [nil, "", "afte=1", "after=%", "after=%FF", "%61fter%=1"])
    func `A malformed query item is dropped`(raw: String?) {
        #expect(URLQuery(raw)["after"] == nil)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
