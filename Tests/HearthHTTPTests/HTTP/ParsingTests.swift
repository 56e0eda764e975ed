import DocumentModel
import NIOCore
import Testing
import UTF8Text

@testable import HearthHTTP

/// Parsing of header fields, authorities and queries.
@Suite struct ParsingTests {
    @Test(
        arguments: [
            ("Text/HTML", "text/html", true), (" text/html ;q=1", "text/html", true), ("text/htmlx", "text/html", false),
            ("text/ht\u{212a}l", "text/htkl", false), ("", "", true),
        ] as [(String, String, Bool)]
    )
    func `Header values are compared bytewise and ASCII case-insensitively`(text: String, name: String, isEqual: Bool) {
        #expect(HeaderListElement(text.utf8).value.elementsEqual(name.utf8) == isEqual)
    }

    @Test
    func `Parameters of a header element are parsed`() {
        let value = HeaderListElement(#"a/b; Charset="UTF-8" ;q = 0.0;; flag"#.utf8)
        #expect(value.parameters.map { String(decoding: $0.name, as: UTF8.self) } == ["charset", "q", "flag"])
        #expect(value.parameters.map { String(decoding: $0.value, as: UTF8.self) } == ["UTF-8", "0.0", ""])
        #expect(value.isUnacceptable)
        #expect(!HeaderListElement("a/b;q=0.01".utf8).isUnacceptable)
    }

    @Test
    func `Of two cookies with the same name, the first wins, and values are not decoded`() {
        let cookies = Cookies(["a=1; b=%20=x;a=2", "c= ; a=3; d", "\u{e9}=4"])
        #expect(cookies["a"] == "1")
        #expect(cookies["b"] == "%20=x")
        #expect(cookies["c"] == " ")
        #expect(cookies["d"] == nil)
        #expect(cookies["é"] == "4")
    }

    @Test(
        arguments: [
            (["session=a"], "a", false), (["session=a; __Host-session=b"], "b", true), (["x=1", "__Host-session=b"], "b", true),
            (["Session=a"], nil, false),
        ] as [([String], String?, Bool)]
    )
    func `A session cookie set over TLS takes precedence`(fields: [String], id: String?, isSecure: Bool) {
        let cookie = SessionCookie(in: Cookies(fields))
        #expect(cookie?.id == id)
        #expect(cookie?.isSecure ?? false == isSecure)
    }

    @Test(
        arguments: [
            ("Localhost:80", "localhost"), ("localhost", "localhost"), ("[::1]:1", "[::1]"), ("[::1]", "[::1]"), ("a:", "a"),
            ("", ""),
            ("a:b", nil), ("[::1", nil), ("[::1]x", nil), ("a:1:2", nil),
        ] as [(String, String?)]
    )
    func `The host of an authority is extracted`(authority: String, name: String?) {
        #expect(HostCheck.name(in: authority)?.string == name)
    }

    @Test(
        arguments: [
            ("", "{}"), ("a=1&b=2", #"{"a":1,"b":"2"}"#), ("a=%31&b=%C3%A9", #"{"a":1,"b":"é"}"#),
            ("b=x+y%2Bz", #"{"b":"x y+z"}"#),
            ("b=a=b", #"{"b":"a=b"}"#), ("b", #"{"b":""}"#), ("&&b=", #"{"b":""}"#), ("a=-1", #"{"a":"-1"}"#),
            ("a=+1", #"{"a":" 1"}"#),
            ("a=٣", #"{"a":"٣"}"#), ("a=9999999999", #"{"a":"9999999999"}"#), ("%61=01", #"{"a":1}"#),
        ]
    )
    func `A query is converted to a JSON object`(query: String, json: String) throws {
        let bytes = try QueryString(query.utf8).json(integers: ["a"], json: [])
        #expect(UTF8Key(validating: bytes) == UTF8Key(json))
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%+1", "a=%ff", "%=1"])
    func `A malformed query is rejected`(query: String) {
        #expect(throws: StatusError.self) { try QueryString(query.utf8) }
    }

    @Test(
        arguments: [
            ("", ""), ("plain", "plain"), ("a\u{2028}\u{2029}\u{85}b", #"a\u2028\u2029\u0085b"#),
            ("é\u{84}\u{86}\u{2027}\u{202a}😀", "é\u{84}\u{86}\u{2027}\u{202a}😀"),
            ("\u{2028}", #"\u2028"#),
        ]
    )
    func `Unicode line terminators are escaped`(text: String, expected: String) {
        var buffer = ByteBuffer()
        buffer.writeEscapingLineTerminators(Array(text.utf8))
        #expect(UTF8Key(String(buffer: buffer)) == UTF8Key(expected))
    }

    @Test
    func `Streams without an address are limited only in total and per key`() throws {
        let slots = WatchSlots(.init(total: 3, perAddress: 1, perKey: 2))
        var held = [try slots.acquire(for: nil, key: "k"), try slots.acquire(for: nil, key: "k")]
        #expect(throws: WatchSlots.LimitReached.key) { try slots.acquire(for: nil, key: "k") }
        held.append(try slots.acquire(for: nil, key: nil))
        #expect(throws: WatchSlots.LimitReached.total) { try slots.acquire(for: nil, key: nil) }
        held.removeAll()
        held.append(try slots.acquire(for: nil, key: nil))
        #expect(held.count == 1)
    }

    @Test
    func `Slots are released when they are deallocated`() throws {
        let slots = WatchSlots(.init(total: 3, perAddress: 2, perKey: 1))
        var held = [try slots.acquire(for: "a", key: nil), try slots.acquire(for: "a", key: nil)]
        #expect(throws: WatchSlots.LimitReached.address("a")) { try slots.acquire(for: "a", key: nil) }
        held.append(try slots.acquire(for: "b", key: "k"))
        #expect(throws: WatchSlots.LimitReached.total) { try slots.acquire(for: "c", key: nil) }
        held.removeFirst()
        #expect(throws: WatchSlots.LimitReached.key) { try slots.acquire(for: "c", key: "k") }
        held.append(try slots.acquire(for: "a", key: nil))
        #expect(throws: WatchSlots.LimitReached.total) { try slots.acquire(for: "a", key: nil) }
        held.removeAll()
        held = [try slots.acquire(for: "a", key: nil), try slots.acquire(for: "a", key: nil)]
        #expect(held.count == 2)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"), (32_503_680_000, "Wed, 01 Jan 3000 00:00:00 GMT"),
        ]
    )
    func `A time is formatted as an HTTP date`(second: Int, text: String) {
        #expect(HTTPDateCache.text(of: second) == text)
    }
}
