import Testing
import UTF8Text

@testable import IdentityTokens

@Suite("Malformed ID tokens")
struct MalformedTokenTests {
    private static let valid = String(decoding: TokenFixtures.token(), as: UTF8.self)
    private static let parts = valid.split(separator: ".").map(String.init)

    private func problem(_ token: String) -> String? {
        problem(Array(token.utf8))
    }

    private func problem(_ token: [UInt8]) -> String? {
        if case .malformed(let problem) = TokenFixtures.error(of: token) { problem } else { nil }
    }

    @Test(arguments: ["", ".", "a", "fsk_0123", "\(parts[0]).\(parts[1])", "\(valid).", "\(valid).AA", "\(valid).AA.AA"])
    func `Other than three parts are refused`(token: String) {
        #expect(problem(token) == "it does not have three parts")
    }

    @Test(
        arguments: [
            " \(valid)", "\(valid) ", "\(valid)\n", "\(parts[0]).\(parts[1])\n.\(parts[2])",
            "\(parts[0]).\(parts[1]). \(parts[2])",
            "\(valid)=", "\(valid)==", "\(parts[0])=.\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1])==.\(parts[2])",
            "\(parts[0]).\(parts[1])+.\(parts[2])", "\(parts[0]).\(parts[1])/.\(parts[2])",
            "\(valid)\0", "\(valid)é", "Bearer \(valid)",
        ]
    )
    func `Padding, whitespace and other characters are refused`(token: String) {
        #expect(problem(token)?.hasSuffix("is not base64url without padding") == true)
    }

    @Test
    func `Base64url with other trailing bits is refused`() {
        // 64 bytes end in a character of which 4 bits are zero.
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let accepted = alphabet.filter { problem(Self.valid.dropLast() + "\($0)") == nil }
        #expect(accepted == "AQgw")
        #expect(problem(Self.valid + "AAA") == "its signature is not base64url without padding")
    }

    @Test
    func `Bytes that are not UTF-8 are refused`() {
        #expect(problem(Array(Self.valid.utf8) + [0xff]) == "its signature is not base64url without padding")
        let claims = Array(#"{"iss":""#.utf8) + [0xff] + Array(#""}"#.utf8)
        #expect(problem("\(Self.parts[0]).\(url(claims)).\(Self.parts[2])") == "its payload is not valid JSON")
    }

    @Test
    func `A token larger than 16 KiB is refused before it is decoded`() {
        let padding = String(repeating: "a", count: 16 << 10)
        let large = TokenFixtures.token(claims: TokenFixtures.claims(["padding": "\"\(padding)\""]))
        #expect(problem(large) == "it is larger than 16384 bytes")
        #expect(problem([UInt8](repeating: UInt8(ascii: "."), count: 10_000_000)) == "it is larger than 16384 bytes")
        let fitting = TokenFixtures.token(claims: TokenFixtures.claims(["padding": "\"\(padding.prefix(11_000))\""]))
        #expect(TokenFixtures.error(of: fitting) == nil)
    }

    @Test
    func `A repeated name is refused in claims and headers, however it is escaped`() {
        for name in ["sub", "\\u0073ub", "s\\u0075b"] {
            let claims = TokenFixtures.claims().dropLast() + #","\#(name)":"mallory"}"#
            #expect(problem(TokenFixtures.token(claims: String(claims))) == "its payload has two members with the same name")
        }
        let nested = TokenFixtures.claims(["firebase": #"{"a":1,"a":2}"#])
        #expect(problem(TokenFixtures.token(claims: nested)) == "its payload has two members with the same name")
        let header = TokenFixtures.header().dropLast() + #","alg":"none"}"#
        #expect(problem(TokenFixtures.token(header: String(header))) == "its header has two members with the same name")
    }

    @Test
    func `Deep nesting is refused`() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(TokenFixtures.error(of: TokenFixtures.token(claims: TokenFixtures.claims(["a": nested(15)]))) == nil)
        let deep = TokenFixtures.token(claims: TokenFixtures.claims(["a": nested(16)]))
        #expect(problem(deep) == "its payload is nested deeper than 16 levels")
        let deepHeader = TokenFixtures.token(header: TokenFixtures.header(["a": nested(1_000)]))
        #expect(problem(deepHeader) == "its header is nested deeper than 16 levels")
    }

    @Test(arguments: ["[]", "1", "null", #""a""#, "", "{", "{} {}", "{}x", #"{"alg":"ES256",}"#, "\u{feff}{}"])
    func `A header or payload that is no JSON object is refused`(text: String) {
        #expect(problem(TokenFixtures.token(header: text))?.hasPrefix("its header is not") == true)
        #expect(problem(TokenFixtures.token(claims: text))?.hasPrefix("its payload is not") == true)
    }

    @Test(arguments: [nil, "1", "null", #"["ES256"]"#])
    func `A header without an algorithm is refused`(algorithm: String?) {
        let token = TokenFixtures.token(header: TokenFixtures.header(["alg": algorithm]))
        #expect(problem(token) == "its header names no algorithm")
    }

    @Test(arguments: [#"["exp"]"#, #"["b64"]"#, "[]", "null", "1"])
    func `A header that requires extensions is refused`(extensions: String) {
        let token = TokenFixtures.token(header: TokenFixtures.header(["crit": extensions, "b64": "false"]))
        #expect(problem(token)?.contains("crit") == true)
    }

    @Test(arguments: [#""JOSE""#, #""logout+jwt""#, #""secevent+jwt""#, #""dpop+jwt""#, #""""#, "1", "null", #""JWT ""#])
    func `Another type is refused`(type: String) {
        #expect(problem(TokenFixtures.token(header: TokenFixtures.header(["typ": type])))?.contains("typ") == true)
    }

    @Test
    func `Messages are sentences without the token`() {
        let secret = "hunter2hunter2"
        let tokens = [
            "\(secret).\(secret).\(secret)", secret, "\(url(secret.utf8)).\(url(secret.utf8)).\(secret)",
            String(decoding: TokenFixtures.token(header: TokenFixtures.header(["alg": "\"\(secret)\""])), as: UTF8.self),
            String(decoding: TokenFixtures.token(header: TokenFixtures.header(["kid": "\"\(secret)\""])), as: UTF8.self),
            String(decoding: TokenFixtures.token(claims: TokenFixtures.claims(["iss": "\"\(secret)\""])), as: UTF8.self),
            String(decoding: TokenFixtures.token(claims: TokenFixtures.claims(["aud": "\"\(secret)\""])), as: UTF8.self),
            String(decoding: TokenFixtures.token(claims: "{\"\(secret)\":1,\"\(secret)\":1}"), as: UTF8.self),
        ]
        for token in tokens {
            let message = TokenFixtures.error(of: Array(token.utf8))?.description ?? ""
            #expect(message.hasPrefix("The ") && message.hasSuffix("."))
            #expect(!message.contains(secret) && !message.contains(url(secret.utf8)))
        }
    }

    @Test
    func `A token is told from an API key by its dots`() {
        #expect(TokenAuthority.isToken(Array(Self.valid.utf8)))
        #expect(!TokenAuthority.isToken(Array("fsk_0123_4567".utf8)))
        #expect(!TokenAuthority.isToken(Array("a.b.c.d".utf8)))
        #expect(!TokenAuthority.isToken(Array("owner".utf8)))
    }
}
