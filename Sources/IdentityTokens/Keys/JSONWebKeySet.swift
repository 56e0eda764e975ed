import DocumentModel
import StrictJSON
package import UTF8Text

/// A JWK set (RFC 7517, section 5), of which the unusable keys are skipped.
struct JSONWebKeySet: Sendable {
    /// The usable keys; each has an ID, which no other key has.
    let keys: [VerificationKey]
    /// The other keys.
    let skipped: [SkippedKey]

    private static let maximumBytes = 64 << 10
    private static let maximumDepth = 8
    private static let maximumKeys = 100

    /// Decodes a set.
    ///
    /// - Parameter algorithms: The algorithms that the issuer is configured with. Keys for others are skipped.
    /// - Throws: ``StatusCode/invalidArgument`` if the text is not a JWK set, or is larger than 64 KiB or 100 keys. Single keys never
    ///   make a set fail.
    init(_ bytes: [UInt8], algorithms: Set<SignatureAlgorithm>) throws(StatusError) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes, limits: JSONLimits(maximumBytes: Self.maximumBytes, maximumDepth: Self.maximumDepth)).root
        } catch {
            throw StatusError(.invalidArgument, "The key set is not valid JSON: \(error).")
        }
        guard let members = root["keys"], let elements = members.elements else {
            throw StatusError(.invalidArgument, "Expected a JWK set, an object with a list of keys, found no such list.")
        }
        guard members.count <= Self.maximumKeys else {
            throw StatusError(.invalidArgument, "The key set has \(members.count) keys; the maximum is \(Self.maximumKeys).")
        }
        var keys: [VerificationKey] = []
        var skipped: [SkippedKey] = []
        var ids: Set<UTF8Key> = []
        for (index, node) in elements.enumerated() {
            let id = node["kid"]?.string.map { UTF8Key($0) }
            do throws(UnusableKey) {
                guard let id, id.byteCount > 0 else { throw UnusableKey("it has no key ID (kid)") }
                let key = try VerificationKey(jwk: node, id: id, algorithms: algorithms)
                guard ids.insert(id).inserted else { throw UnusableKey("an earlier key has the same key ID") }
                keys.append(key)
            } catch {
                skipped.append(SkippedKey(index: index, id: id, reason: error.reason))
            }
        }
        self.keys = keys
        self.skipped = skipped
    }
}

/// A key of a set that verifies no tokens.
package struct SkippedKey: Hashable, Sendable, CustomStringConvertible {
    /// The index in the set, from 0.
    package let index: Int
    /// The key ID, if there is one.
    package let id: UTF8Key?
    /// The reason, as a part of a sentence.
    package let reason: String

    /// The position, the ID and the reason, for a log.
    package var description: String {
        "keys[\(index)]" + (id.map { " (\(Excerpt($0.string)))" } ?? "") + ": \(reason)"
    }
}

extension VerificationKey {
    /// The members of a JWK that are private or symmetric keys (RFC 7518, section 6).
    private static let privateMembers: [UTF8Key] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Decodes one key, whose type and curve determine its algorithm.
    fileprivate init(jwk: JSONNode, id: UTF8Key, algorithms: Set<SignatureAlgorithm>) throws(UnusableKey) {
        try Self.requireVerificationUse(of: jwk)
        guard !Self.privateMembers.contains(where: { jwk[$0] != nil }) else {
            throw UnusableKey("it contains a private or symmetric key, with which anybody could sign tokens")
        }
        let algorithm = try Self.algorithm(of: jwk)
        guard algorithms.contains(algorithm) else { throw UnusableKey("the issuer is not configured for \(algorithm.rawValue)") }
        switch algorithm {
        case .rs256: self = try .rsa(id, modulus: Self.bytes("n", of: jwk), exponent: Self.bytes("e", of: jwk))
        case .es256: self = try .p256(id, x: Self.bytes("x", of: jwk), y: Self.bytes("y", of: jwk))
        case .eddsa: self = try .ed25519(id, x: Self.bytes("x", of: jwk))
        case .hs256: throw UnusableKey("it is a symmetric key")
        }
    }

    /// Requires that a key is neither for encryption nor for signing alone (RFC 7517, sections 4.2 and 4.3).
    private static func requireVerificationUse(of jwk: JSONNode) throws(UnusableKey) {
        if let use = jwk["use"], use.string.map({ $0.utf8.elementsEqual("sig".utf8) }) != true {
            throw UnusableKey("its use is not sig")
        }
        if let operations = jwk["key_ops"] {
            let isForVerification = operations.elements?.contains { $0.string?.utf8.elementsEqual("verify".utf8) ?? false }
            guard isForVerification == true else { throw UnusableKey("its key_ops do not include verify") }
        }
    }

    private static func algorithm(of jwk: JSONNode) throws(UnusableKey) -> SignatureAlgorithm {
        let type = jwk["kty"]?.string.map { UTF8Key($0) }
        let curve = jwk["crv"]?.string.map { UTF8Key($0) }
        let algorithm: SignatureAlgorithm
        switch (type, curve) {
        case ("RSA"?, _): algorithm = .rs256
        case ("EC"?, "P-256"?): algorithm = .es256
        case ("OKP"?, "Ed25519"?): algorithm = .eddsa
        default:
            guard let type else { throw UnusableKey("it has no key type (kty)") }
            let description = "\(Excerpt(type.string))" + (curve.map { " with the curve \(Excerpt($0.string))" } ?? "")
            throw UnusableKey("the key type \(description) is not supported")
        }
        if let declared = jwk["alg"], declared.string.flatMap(SignatureAlgorithm.init(name:)) != algorithm {
            let found = declared.string.map { Excerpt($0).description } ?? "no string"
            throw UnusableKey("its algorithm is \(found), not \(algorithm.rawValue)")
        }
        return algorithm
    }

    private static func bytes(_ name: UTF8Key, of jwk: JSONNode) throws(UnusableKey) -> [UInt8] {
        guard let text = jwk[name]?.string, let bytes = Base64.url.decode(text.utf8) else {
            throw UnusableKey("its member \(name) is not base64url without padding")
        }
        return bytes
    }
}
