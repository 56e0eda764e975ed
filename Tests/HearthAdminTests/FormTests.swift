import Crypto
import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON
import Testing

@testable import HearthAdmin

@Suite("What forms send")
struct FormTests {
    @Test(
        "Names and values are read byte by byte, line breaks as LF",
        arguments: [
            ("a=b", [["a", "b"]]), ("a", [["a", ""]]), ("a=", [["a", ""]]), ("=b", [["", "b"]]), ("a=b=c", [["a", "b=c"]]),
            ("a=1&&a=2", [["a", "1"], ["a", "2"]]), ("a+b=%2B+", [["a b", "+ "]]), ("a=%0D%0Ab%0Ac%0D", [["a", "\nb\nc\r"]]),
            ("a=%0D%0D%0A", [["a", "\r\n"]]), ("%E2%80%AE=%C3%A9", [["\u{202E}", "\u{E9}"]]), ("a=%00", [["a", "\0"]]), ("", []),
        ]
    )
    func items(text: String, items: [[String]]) throws {
        let form = try #require(Form(Array(text.utf8)))
        #expect(form.items.map { [$0.name, $0.value] } == items.map { $0.map { UTF8Key($0) } })
    }

    @Test("What isn't percent-encoded UTF-8 is no form", arguments: ["a=%", "a=%4", "a=%GG", "a=%FF", "%C3=b", "a=%ED%A0%80"])
    func malformed(text: String) {
        #expect(Form(Array(text.utf8)) == nil)
    }

    @Test("The word of a form is another for everybody and every start of the program")
    func token() throws {
        let key = try #require(Form(Array("form-token=\(TestSite.token())".utf8)))
        #expect(FormToken(for: "anybody", secret: TestSite.formSecret).isSent(by: key))
        #expect(!FormToken(for: "key 1", secret: TestSite.formSecret).isSent(by: key))
        #expect(!FormToken(for: "anybody", secret: SymmetricKey(size: .bits256)).isSent(by: key))
        for text in ["", "form-token=", "form-token=\(TestSite.token())0", "other=\(TestSite.token())"] {
            #expect(!FormToken(for: "anybody", secret: TestSite.formSecret).isSent(by: try #require(Form(Array(text.utf8)))))
        }
    }

    @Test("The word of a form looks different on every page, and is good under any mask")
    func mask() throws {
        let token = FormToken(for: "anybody", secret: TestSite.formSecret)
        let shown = ["0123456789abcdef", "fedcba9876543210"].map { token.masked(by: $0 + $0) }
        #expect(shown[0].utf8.count == 64 && !shown.contains { $0.contains(token.text) })
        #expect(shown[0].prefix(32) != shown[1].prefix(32))
        for text in shown { #expect(token.isSent(by: try #require(Form(Array("form-token=\(text)".utf8))))) }
        #expect(!token.isSent(by: try #require(Form(Array("form-token=\(token.text)".utf8)))))
    }

    @Test("A form without the word of the page does nothing, and shows what was typed")
    func stale() async throws {
        try await TestSite.with { site in
            let form = "method=documents.set&params=%7B%22path%22%3A%22a%2Fb%22%2C%22fields%22%3A%7B%7D%7D&form-token=x"
            let response = await site.pages.response(
                to: AdminPages.PageRequest(method: .post, path: "/rpc/docs", form: Array(form.utf8))
            )
            let page = try HTMLPage(response.body)
            #expect(try page.one("//*[@role='status']").text.contains("look it over and send it again"))
            #expect(try page.one("//section[@id='documents.set']//textarea").text.contains(#"{"path":"a/b","fields":{}}"#))
            let path = try DocumentPath("a/b")
            #expect(try await site.store.document(at: path) == nil)
        }
    }
}

@Suite("What is said of what was done")
struct FlashTests {
    private static let time = Timestamp.maximum

    static let all: [Flash] = [
        .saved(nil), .saved(.init(version: .minimum, current: .maximum)), .unchanged, .created,
        .deleted(.init(version: .maximum, current: nil)), .restored(.init(version: .minimum, current: .maximum)),
        .deletedMany(12), .imported(0), .signedIn, .signedOut, .sessionEnded, .keyRevoked, .indexChanged,
    ]

    @Test("It goes through a cookie as it is", arguments: all)
    func roundTrip(flash: Flash) throws {
        let pair = String(flash.cookie.prefix { $0 != ";" })
        #expect(Flash(in: Cookies([pair])) == flash)
        #expect(!flash.message.isEmpty)
    }

    @Test(
        "Nothing foreign is said",
        arguments: ["", "<b>", "saved<b>", "savedé", "nothing", "saved\u{301}", ".", "saved%20"]
    )
    func foreign(text: String) {
        #expect(Flash(in: Cookies(["flash=\(text)"])) == nil)
    }

    @Test("It is said once")
    func once() async throws {
        try await TestSite.with { site in
            let response = await site.get("/admin/", cookies: ["a=b; flash=created"])
            let page = try HTMLPage(response.body)
            #expect(try page.one("//*[@class='flash']/p").text == "Created.")
            #expect(response.headers[values: .setCookie] == ["flash=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"])
            #expect(await site.get("/admin/").headers[values: .setCookie] == [])
        }
    }
}
