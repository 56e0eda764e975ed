import Testing

@testable import HearthAdmin

@Suite("External links")
struct ExternalLinkTests {
    @Test(
        arguments: [
            "https://swift.org", "http://localhost:8080/admin/", "HTTPS://Example.com/a?b=c&d='e'#f",
            "https://bücher.example/straße",
            "https://[::1]/", "https://covers.openlibrary.org/b/id/10555691-S.jpg", "https://example.com/@user",
        ]
    )
    func `Web URLs are links`(text: String) throws {
        #expect(try #require(ExternalLink(text)).url == text)
    }

    @Test(
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
    func `Other strings are not links`(text: String) {
        #expect(ExternalLink(text) == nil)
    }

    @Test
    func `The text of a long link is shortened, its target is not`() throws {
        let link = try #require(ExternalLink("https://example.com/a/b/c", textLimit: 12))
        #expect(link.text == "https:/…/b/c")
        #expect(link.url == "https://example.com/a/b/c")
    }
}
