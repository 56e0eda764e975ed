import Cryptography
import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import HearthHTTP
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAdmin

@Suite("Forms")
struct FormTests {
    @Test(
        arguments: [
            ("a=b", [["a", "b"]]), ("a", [["a", ""]]), ("a=", [["a", ""]]), ("=b", [["", "b"]]), ("a=b=c", [["a", "b=c"]]),
            ("a=1&&a=2", [["a", "1"], ["a", "2"]]), ("a+b=%2B+", [["a b", "+ "]]), ("a=%0D%0Ab%0Ac%0D", [["a", "\nb\nc\r"]]),
            ("a=%0D%0D%0A", [["a", "\r\n"]]), ("%E2%80%AE=%C3%A9", [["\u{202E}", "\u{E9}"]]), ("a=%00", [["a", "\0"]]), ("", []),
        ]
    )
    func `Names and values are decoded as bytes, with line breaks as LF`(text: String, items: [[String]]) throws {
        let form = try #require(Form(Array(text.utf8)))
        #expect(form.items.map { [$0.name, $0.value] } == items.map { $0.map { UTF8Key($0) } })
    }

    @Test(
        arguments: ["a=%", "a=%4", "a=%GG", "a=%FF", "%C3=b", "a=%ED%A0%80"]
    )
    func `A form that is not percent-encoded UTF-8 is rejected`(text: String) {
        #expect(Form(Array(text.utf8)) == nil)
    }

    @Test
    func `A CSRF token is valid only for its owner and its secret`() throws {
        let key = try #require(Form(Array("form-token=\(TestSite.token())".utf8)))
        #expect(CSRFToken(for: "anybody", secret: TestSite.csrfSecret).matches(key))
        #expect(!CSRFToken(for: "key 1", secret: TestSite.csrfSecret).matches(key))
        #expect(!CSRFToken(for: "anybody", secret: .random()).matches(key))
        for text in ["", "form-token=", "form-token=\(TestSite.token())0", "other=\(TestSite.token())"] {
            #expect(!CSRFToken(for: "anybody", secret: TestSite.csrfSecret).matches(try #require(Form(Array(text.utf8)))))
        }
    }

    @Test
    func `A CSRF token is masked differently on each page and valid under any mask`() throws {
        let token = CSRFToken(for: "anybody", secret: TestSite.csrfSecret)
        let shown = ["0123456789abcdef", "fedcba9876543210"].map { token.masked(by: $0 + $0) }
        #expect(shown[0].utf8.count == 64 && !shown.contains { $0.contains(token.text) })
        #expect(shown[0].prefix(32) != shown[1].prefix(32))
        for text in shown { #expect(token.matches(try #require(Form(Array("form-token=\(text)".utf8))))) }
        #expect(!token.matches(try #require(Form(Array("form-token=\(token.text)".utf8)))))
    }

    @Test
    func `A form with an invalid CSRF token changes nothing and is shown again with its input`() async throws {
        try await TestSite.with { site in
            let form = "method=documents.set&params=%7B%22path%22%3A%22a%2Fb%22%2C%22fields%22%3A%7B%7D%7D&form-token=x"
            let response = await site.pages.response(
                to: PageRequest(method: .post, path: "/rpc/docs", form: Array(form.utf8))
            )
            let page = try HTMLPage(response.body)
            #expect(try page.one("//*[@role='status']").text.contains("review it and submit it again"))
            #expect(try page.one("//section[@id='documents.set']//textarea").text.contains(#"{"path":"a/b","fields":{}}"#))
            let path = try DocumentPath("a/b")
            #expect(try await site.store.document(at: path) == nil)
        }
    }
}

@Suite("Flash messages")
struct FlashTests {
    private static let time = Timestamp.maximum

    private static let elsewhere = (try? DocumentPath("a.b/c; é.1")).map {
        Flash.Undo(version: .minimum, current: .maximum, document: $0)
    }

    static let all: [Flash] = [
        .saved(nil), .saved(.init(version: .minimum, current: .maximum)), .saved(elsewhere), .unchanged, .created,
        .deleted(.init(version: .maximum, current: nil)), .restored(.init(version: .minimum, current: .maximum)),
        .deletedMany(12, undo: "a-B_1"), .deletedMany(1, undo: nil), .editedMany(3, undo: "x"), .restoredMany(2, undo: "y"),
        .imported(0), .signedIn, .signedOut, .sessionEnded, .keyRevoked, .indexChanged,
    ]

    @Test(arguments: all)
    func `A message round-trips through its cookie`(flash: Flash) throws {
        let pair = String(flash.cookie.prefix { $0 != ";" })
        #expect(Flash(in: Cookies([pair])) == flash)
        #expect(!flash.message.isEmpty)
    }

    @Test(
        arguments: ["", "<b>", "saved<b>", "savedé", "nothing", "saved\u{301}", ".", "saved%20"]
    )
    func `Unknown codes are ignored`(text: String) {
        #expect(Flash(in: Cookies(["flash=\(text)"])) == nil)
    }

    @Test
    func `A message is shown once`() async throws {
        try await TestSite.with { site in
            let response = await site.get("/admin/", cookies: ["a=b; flash=created"])
            let page = try HTMLPage(response.body)
            #expect(try page.one("//*[@class='flash']/p").text == "Created.")
            #expect(response.headers[values: .setCookie] == ["flash=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"])
            #expect(await site.get("/admin/").headers[values: .setCookie] == [])
        }
    }
}
