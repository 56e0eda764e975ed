import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Key secret")
struct KeySecretTests {
    @Test
    func `A key has a prefix, an ID and 256 random bits`() {
        let secret = KeySecret()
        let parts = secret.text.split(separator: "_")
        #expect(parts.map(\.utf8.count) == [3, 12, 64])
        #expect(parts.first == "fsk")
        #expect(secret.id.string == String(parts[1]))
        #expect(Set((0..<100).map { _ in KeySecret().text }).count == 100)
    }

    @Test
    func `A key round-trips through its text`() throws {
        let secret = KeySecret()
        let read = try #require(KeySecret(Array(secret.text.utf8)))
        #expect(read.id == secret.id)
        #expect(read.digest.matches(secret.digest))
        #expect(!read.digest.matches(KeySecret().digest))
    }

    @Test
    func `The hash is the SHA-256 of the text`() throws {
        let text = "fsk_000000000000_" + String(repeating: "0", count: 64)
        let secret = try #require(KeySecret(Array(text.utf8)))
        // Computed with sha256sum.
        #expect(secret.digest.hexadecimal == "c4eef95d29ab97756fbc615c08606eb10cf95dc7e44e1bcf3b40904950028870")
        #expect(KeyDigest(hexadecimal: secret.digest.hexadecimal)?.matches(secret.digest) == true)
    }

    @Test(
        arguments: [
            "", "fsk_", "fsk_000000000000", "fsk_000000000000_", "key", "FSK_000000000000_" + zeros(64),
            "fsk_000000000000_" + zeros(63), "fsk_000000000000_" + zeros(65), "fsk_00000000000A_" + zeros(64),
            "fsk_000000000000-" + zeros(64), "fsk_000000000000_" + zeros(62) + "é", "fsk_000000000000_" + zeros(63) + "A",
            "fsk_000000000000_" + zeros(63) + "\n", String(repeating: "a", count: 30_000),
        ]
    )
    func `Other texts are rejected`(text: String) {
        #expect(KeySecret(Array(text.utf8)) == nil)
    }
}

private func zeros(_ count: Int) -> String {
    String(repeating: "0", count: count)
}
