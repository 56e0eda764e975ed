import Cryptography
import Testing
import UTF8Text

@Suite("Digests")
struct DigestTests {
    @Test(
        "SHA-256 gives the digests of its standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func sha256(text: String, expected: String) {
        #expect(Hexadecimal.encode(SHA256.digest(of: Array(text.utf8))) == expected)
    }

    @Test
    func `The digest doesn't depend on the pieces in which contents come`() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [1, 63, 64, 65, 300] {
            var digest = SHA256()
            for start in stride(from: 0, to: bytes.count, by: size) {
                digest.update(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            digest.update([])
            let whole = SHA256.digest(of: bytes)
            #expect(digest.finalize() == whole)
        }
    }

    @Test
    func `Digests are equal and hash equally if their bytes are equal`() {
        let digests = Set((0..<100).map { SHA256.digest(of: [UInt8($0 % 50)]) })
        #expect(digests.count == 50)
        #expect(SHA256.digest(of: [1]) != SHA256.digest(of: [2]))
        #expect(Array(SHA256.digest(of: Array("abc".utf8)).suffix(2)) == [0x15, 0xad])
    }

    @Test
    func `MD5 gives the digest of its specification's example`() {
        #expect(Hexadecimal.encode(MD5.digest(of: Array("message digest".utf8))) == "f96b697d7cb7938d525a2f31aaf161d0")
    }
}

@Suite("Authentication codes")
struct SymmetricKeyTests {
    /// Test cases 1, 2 and 6 of RFC 4231.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC gives the codes of its specification's examples`(key: [UInt8], text: String, expected: String) {
        let code = SymmetricKey(key).authenticationCode(for: Array(text.utf8))
        #expect(Hexadecimal.encode(code) == expected)
        #expect(SymmetricKey(key).isValid(Array(code), for: Array(text.utf8)))
    }

    @Test
    func `Another code, text or key is refused`() {
        let key = SymmetricKey.random()
        let code = Array(key.authenticationCode(for: [1, 2, 3]))
        #expect(key.isValid(code, for: [1, 2, 3]))
        #expect(!key.isValid(code, for: [1, 2]))
        #expect(!key.isValid(code.dropLast(), for: [1, 2, 3]))
        #expect(!key.isValid(code + [0], for: [1, 2, 3]))
        #expect(!key.isValid([], for: [1, 2, 3]))
        #expect(!SymmetricKey.random().isValid(code, for: [1, 2, 3]))
        for index in code.indices {
            var other = code
            other[index] ^= 1
            #expect(!key.isValid(other, for: [1, 2, 3]))
        }
    }
}
