import Testing
import UTF8Text

@testable import HearthAPI

@Suite("API key text")
struct APIKeyTextTests {
    @Test
    func `A key has a prefix, an ID and 256 random bits`() {
        let key = APIKeyText()
        let parts = key.string.split(separator: "_")
        #expect(parts.map(\.utf8.count) == [3, 12, 64])
        #expect(parts.first == "fsk")
        #expect(key.id.string == String(parts[1]))
        #expect(Set((0..<100).map { _ in APIKeyText().string }).count == 100)
    }

    @Test
    func `A key round-trips through its text`() throws {
        let key = APIKeyText()
        let read = try #require(APIKeyText(Array(key.string.utf8)))
        #expect(read.id == key.id)
        #expect(read.digest.matches(key.digest))
        #expect(!read.digest.matches(APIKeyText().digest))
    }

    @Test
    func `The hash is the SHA-256 of the text`() throws {
        let text = "fsk_000000000000_" + String(repeating: "0", count: 64)
        let key = try #require(APIKeyText(Array(text.utf8)))
        // Computed with sha256sum.
        #expect(key.digest.hexadecimal == "c4eef95d29ab97756fbc615c08606eb10cf95dc7e44e1bcf3b40904950028870")
        #expect(KeyDigest(hexadecimal: key.digest.hexadecimal)?.matches(key.digest) == true)
    }

    @Test(
        arguments: [
            "", "fsk_", "fsk_000000000000", "fsk_000000000000_", "key", "FSK_000000000000_" + zeros(64),
            "fsk_000000000000_" + zeros(63), "fsk_000000000000_" + zeros(65), "fsk_00000000000A_" + zeros(64),
            "fsk_000000000000-" + zeros(64), "fsk_000000000000_" + zeros(62) + "é", "fsk_000000000000_" + zeros(63) + "A",
            "fsk_000000000000_" + zeros(63) + "\n", String(repeating: "a", count: 30_000),
        ]
    )
    func `Other strings are rejected`(text: String) {
        #expect(APIKeyText(Array(text.utf8)) == nil)
    }
}

private func zeros(_ count: Int) -> String {
    String(repeating: "0", count: count)
}
