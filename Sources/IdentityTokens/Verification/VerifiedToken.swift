package import Cryptography
package import DocumentModel
package import StrictJSON
package import UTF8Text

/// An ID token whose signature and claims have been verified.
package struct VerifiedToken: Sendable {
    /// The issuer, with its configuration.
    package let issuer: TokenIssuer
    /// The claim `sub`.
    package let subject: UTF8Key
    /// The ID of the user: the configured claim, with the issuer's prefix.
    package let uid: UTF8Key
    /// All claims, an object without repeated names.
    package let claims: JSONNode
    /// The time from which the token is no longer accepted, apart from the tolerance for clocks.
    package let expirationTime: Timestamp
    /// The key that the token was verified with.
    package let key: KeyIdentity
    /// The generation of the issuer's key set with that key.
    let keySetGeneration: Int
    /// The digest of the signed text, which distinguishes the token from all others.
    package let digest: SHA256Digest
}

extension VerifiedToken {
    /// The time from which the token is no longer accepted, with the tolerance for clocks.
    package var lastAcceptedTime: Timestamp {
        let time = expirationTime.microseconds + TokenClaims.clockSkewMicroseconds
        return (try? Timestamp(microseconds: time)) ?? .maximum
    }
}
