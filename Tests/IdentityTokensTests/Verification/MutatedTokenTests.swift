import TestSupport
import Testing
import UTF8Text

@testable import IdentityTokens

/// Verifies damaged tokens. `HEARTH_TEST_SEED` sets the seed.
@Suite("Mutated ID tokens")
struct MutatedTokenTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private static let alphabet = Array("ABCabc019-_.={}\"\\ \n\u{0}é".utf8)

    @Test
    func `No mutation of a token verifies`() {
        var random = SeededGenerator()
        let rsaHeader = TokenFixtures.header(["alg": #""RS256""#, "kid": #""rsa""#])
        let tokens = [
            TokenFixtures.token(header: rsaHeader, key: .rsa),
            TokenFixtures.token(),
            TokenFixtures.token(
                header: TokenFixtures.header(["alg": #""HS256""#]),
                claims: TokenFixtures.claims(["iss": #""tests""#]),
                key: .secret
            ),
        ]
        for number in 0..<10_000 {
            let token = tokens[number % tokens.count]
            let mutated = mutate(token, &random)
            let isVerified = TokenFixtures.error(of: mutated) == nil
            if isVerified != (mutated == token) { Issue.record("\(String(decoding: mutated, as: UTF8.self)) \(Self.seed)") }
        }
    }

    @Test
    func `No mutation of a header or of claims is verified by the signature of the original`() {
        var random = SeededGenerator()
        let parts = String(decoding: TokenFixtures.token(), as: UTF8.self).split(separator: ".")
        for _ in 0..<2_000 {
            let header = mutate(Array(TokenFixtures.header().utf8), &random)
            let claims = mutate(Array(TokenFixtures.claims().utf8), &random)
            for token in ["\(url(header)).\(parts[1]).\(parts[2])", "\(parts[0]).\(url(claims)).\(parts[2])"] {
                let isVerified = TokenFixtures.error(of: Array(token.utf8)) == nil
                if isVerified, !token.utf8.elementsEqual(parts.joined(separator: ".").utf8) {
                    Issue.record("\(token) \(Self.seed)")
                }
            }
        }
    }

    @Test
    func `Any bytes are refused`() {
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<100, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let parts = [bytes, bytes.reversed(), bytes].map { url($0) }
            #expect(TokenFixtures.error(of: bytes) != nil, Self.seed)
            #expect(TokenFixtures.error(of: Array(parts.joined(separator: ".").utf8)) != nil, Self.seed)
        }
    }

    private func mutate(_ token: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var mutated = token
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard !mutated.isEmpty else { return mutated }
            let start = Int.random(in: mutated.indices, using: &random)
            let end = min(mutated.count, start + Int.random(in: 1..<8, using: &random))
            let piece = Array(mutated[start..<end])
            switch Int.random(in: 0..<6, using: &random) {
            case 0: mutated.removeSubrange(start..<end)
            case 1: mutated.insert(contentsOf: piece, at: Int.random(in: mutated.indices, using: &random))
            case 2: mutated[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: mutated.swapAt(start, Int.random(in: mutated.indices, using: &random))
            case 4: mutated = Array(mutated[..<end])
            default: mutated[start] = Self.alphabet.randomElement(using: &random) ?? 0
            }
        }
        return mutated
    }
}
