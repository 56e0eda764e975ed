import DocumentModel
import Testing

@testable import FirestoreGRPC

@Suite("WebChannel forms")
struct WebChannelFormTests {
    private typealias Item = WebChannelFormReader.Item

    /// Reads a form that arrives in parts.
    private func items(_ parts: [[UInt8]], maximumMessageBytes: Int = 100) throws(StatusError) -> [Item] {
        var reader = WebChannelFormReader(maximumMessageBytes: maximumMessageBytes)
        var items: [Item] = []
        for part in parts {
            reader.append(part)
            while let item = try reader.next() { items.append(item) }
        }
        if let item = try reader.finish() { items.append(item) }
        return items
    }

    private func items(_ form: String) throws(StatusError) -> [Item] {
        try items([Array(form.utf8)])
    }

    private static let handshake =
        "headers=X-Goog-Api-Client%3Agl-js%2F%20fire%2F12%0D%0AAuthorization%3ABearer+T%0D%0A&count=2&ofs=0"
        + "&req0___data__=%7B%22a%22%3A1%7D&req1___data__=%7B%7D"
    private static let handshakeItems: [Item] = [
        .headers(Array("X-Goog-Api-Client:gl-js/ fire/12\r\nAuthorization:Bearer T\r\n".utf8)),
        .message(Array(#"{"a":1}"#.utf8), id: 0), .message(Array("{}".utf8), id: 1),
    ]

    @Test
    func `A form is the same wherever its parts begin`() throws {
        let form = Array(Self.handshake.utf8)
        for index in 0...form.count {
            #expect(try items([Array(form[..<index]), Array(form[index...])]) == Self.handshakeItems)
        }
        #expect(try items(form.map { [$0] }) == Self.handshakeItems)
    }

    @Test
    func `Messages are numbered from the offset`() throws {
        #expect(try items("count=0") == [])
        #expect(try items("") == [])
        #expect(
            try items("count=3&ofs=40&req2___data__=c&req0___data__=a&req1_type=_badmap&req1_other=x&x=y")
                == [.message([0x63], id: 42), .message([0x61], id: 40), .message(nil, id: 41)]
        )
    }

    @Test
    func `A form has at most one header block, and a limited number of items`() throws {
        #expect { try items("headers=a&headers=b") } throws: { ($0 as? StatusError)?.code == .invalidArgument }
        let most = String(repeating: "x=y&", count: WebChannelFormReader.maximumItemCount - 1)
        #expect(try items(most) == [])
        #expect { try items(most + "x=y&x") } throws: { ($0 as? StatusError)?.code == .resourceExhausted }
    }

    @Test(
        arguments: [
            "ofs=x", "ofs=-1", "ofs=99999999999999999", "req0___data__=%", "req0___data__=%2", "req0___data__=%zz", "%=a",
            "%&b=1",
            String(repeating: "n", count: 65),
        ]
    )
    func `A malformed form is rejected`(form: String) {
        #expect { try items(form) } throws: { ($0 as? StatusError)?.code == .invalidArgument }
    }

    @Test
    func `Values and messages have limits`() {
        let forms = [
            "req0___data__=" + String(repeating: "a", count: 101), "x=" + String(repeating: "a", count: 1_025),
            "headers=" + String(repeating: "a", count: 32_769),
            (0...1_000).map { "req\($0)___data__=" }.joined(separator: "&"),
        ]
        for form in forms {
            #expect { try items(form) } throws: { ($0 as? StatusError)?.code == .resourceExhausted }
        }
    }

    @Test
    func `The header block has the credentials`() {
        for block in ["A:b\r\nAuthorization:Bearer x\r\n", "authorization: Bearer x", "\nAUTHORIZATION:Bearer x\n"] {
            #expect(WebChannelHeaderBlock(Array(block.utf8)).authorization == ["Bearer x"])
        }
        #expect(WebChannelHeaderBlock([]).authorization == [])
        #expect(WebChannelHeaderBlock(Array("Authorization:a\r\nAuthorization:b".utf8)).authorization == ["a", "b"])
    }
}
