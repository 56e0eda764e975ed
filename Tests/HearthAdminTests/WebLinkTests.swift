import Testing

@testable import HearthAdmin

@Suite("Strings that are addresses of web pages")
struct WebLinkTests {
    @Test(
        "Web addresses are links",
        arguments: [
            "https://swift.org", "http://localhost:8080/admin/", "HTTPS://Example.com/a?b=c&d='e'#f",
            "https://bücher.example/straße",
            "https://[::1]/", "https://covers.openlibrary.org/b/id/10555691-S.jpg", "https://example.com/@user",
        ]
    )
    func link(text: String) throws {
        #expect(try #require(WebLink(text)).url == text)
    }

    @Test(
        "Nothing else is",
        arguments: [
            "", "https://", "https:///path", "https://?x", "http:/x", "//example.com", "ftp://example.com", "javascript:alert(1)",
            "JavaScript:alert(1)", " https://example.com", "https://example.com ", "java\nscript:alert(1)",
            "https://exa mple.com",
            "https://example.com/\u{0}", "https://example.com\\@evil.example", "https://user@evil.example/",
            "https://a:b@evil.example",
            "https://example.com/\"onclick=\"", "https://example.com/<b>", "https://example.com/\u{202E}gpj.exe",
            "https://\u{200B}example.com",
            "data:text/html,x", "vbscript:x", "ｈttps://example.com", "https\u{301}://example.com", "https://:80/",
            "https://example.com/" + String(repeating: "x", count: 2_100),
        ]
    )
    func noLink(text: String) {
        #expect(WebLink(text) == nil)
    }

    @Test("A long address is cut where it is shown, and whole where it leads")
    func shortened() throws {
        let link = try #require(WebLink("https://example.com/a/b/c", textLimit: 12))
        #expect(link.text == "https:/…/b/c")
        #expect(link.url == "https://example.com/a/b/c")
    }
}
