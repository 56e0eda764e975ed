import Cryptography
package import DocumentModel
import StrictJSON
package import UTF8Text

/// A verifier of the ID tokens of configured issuers (RFC 7515, RFC 7519, RFC 8725, OpenID Connect Core 1.0).
///
/// The issuer that a token names selects only among the configured ones; their configuration and keys decide everything else.
package struct TokenVerifier: Sendable {
    /// The trusted issuers.
    package let issuers: TokenIssuers

    /// Creates a verifier.
    package init(_ issuers: TokenIssuers) {
        self.issuers = issuers
    }

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - token: The text of the token.
    ///   - time: The current time.
    ///   - keySets: The keys of the issuers, by their texts.
    package func verify(
        _ token: [UInt8],
        at time: Timestamp,
        keySets: [UTF8Key: VerificationKeySet]
    ) throws(TokenError) -> VerifiedToken {
        let unverified = try check(token, at: time)
        guard let keys = keySets[unverified.issuer.issuer] else { throw .keysUnavailable(issuer: unverified.issuer.issuer) }
        return try unverified.verified(with: LoadedKeySet(keys: keys, generation: 0))
    }

    /// Checks everything but the signature.
    ///
    /// These checks come first. They can only refuse a token, so they need not rely on its signature, and they spare a forged or
    /// an old one the fetch of a newer key set. An expired token is reported as such even if its key is no longer known.
    func check(_ token: [UInt8], at time: Timestamp) throws(TokenError) -> UnverifiedToken {
        let compact = try CompactToken(token)
        let header = try JOSEHeader(compact.header)
        guard let issuerClaim = compact.claims["iss"]?.string, let issuer = issuers[UTF8Key(issuerClaim)] else {
            throw .unknownIssuer
        }
        guard let algorithm = SignatureAlgorithm(name: header.algorithm), issuer.algorithms.contains(algorithm) else {
            throw .forbiddenAlgorithm
        }
        guard header.keyID != nil || issuer.keySource.hasSingleKey else { throw .malformed("its header has no key ID (kid)") }
        let claims = try TokenClaims(compact.claims, of: issuer, at: time)
        guard !issuers.isAmbiguous(claims.uid, of: issuer) else {
            throw .invalidClaim(issuer.uidClaim, "begins with the prefix of the user IDs of another issuer")
        }
        return UnverifiedToken(issuer: issuer, algorithm: algorithm, keyID: header.keyID, claims: claims, compact: compact)
    }
}

/// A token of a configured issuer with valid claims, if it is genuine.
struct UnverifiedToken: Sendable {
    let issuer: TokenIssuer
    let algorithm: SignatureAlgorithm
    let keyID: UTF8Key?
    let claims: TokenClaims
    let compact: CompactToken

    /// Verifies the signature with the keys of the issuer.
    func verified(with keySet: LoadedKeySet) throws(TokenError) -> VerifiedToken {
        guard let key = keySet.keys.key(withID: keyID) else { throw .unknownKey(issuer: issuer.issuer) }
        // The algorithm is that of the key, and the header only has to agree (RFC 8725, section 3.1).
        guard key.identity.algorithm == algorithm else { throw .forbiddenAlgorithm }
        guard key.isValid(compact.signature, for: compact.signedText) else { throw .badSignature }
        return VerifiedToken(
            issuer: issuer,
            subject: claims.subject,
            uid: UTF8Key(issuer.uidPrefix.string + claims.uid.string),
            claims: compact.claims,
            expirationTime: claims.expirationTime,
            key: key.identity,
            keySetGeneration: keySet.generation,
            digest: SHA256.digest(of: compact.signedText)
        )
    }
}
