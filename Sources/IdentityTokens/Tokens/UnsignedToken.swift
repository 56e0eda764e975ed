package import StrictJSON
package import UTF8Text

/// An unsecured token (RFC 7519, section 6), as the test tools of Firebase make for emulators.
///
/// Anybody can make one. A server accepts it only in emulator mode.
package struct UnsignedToken: Sendable {
    /// The user's ID.
    package let uid: UTF8Key
    /// The claims, an object.
    package let claims: JSONNode

    private static let algorithm = "none"

    /// Parses a token. Neither its issuer and audience nor its times are checked.
    ///
    /// Older test tools encode the parts in the standard alphabet, with padding.
    ///
    /// - Parameter ignoringSignature: True to accept signed tokens, too, whose signature is not checked.
    /// - Throws: ``TokenError`` if the token is malformed or, unless that is ignored, signed, or names no user in `sub` or
    ///   `user_id`.
    package static func parse(_ token: [UInt8], ignoringSignature: Bool = false) throws(TokenError) -> UnsignedToken {
        let compact = try CompactToken(token.compactMap(urlSafe))
        if !ignoringSignature {
            let header = try JOSEHeader(compact.header)
            guard header.algorithm.utf8.elementsEqual(algorithm.utf8) else { throw .forbiddenAlgorithm }
            guard compact.signature.isEmpty else { throw .malformed("it has a signature, although its algorithm is none") }
        }
        let subject = TokenIssuer.subjectClaim
        guard let id = compact.claims[subject] ?? compact.claims["user_id"] else {
            throw .invalidClaim(subject, "is missing")
        }
        guard let uid = id.string, !uid.utf8.isEmpty else { throw .invalidClaim(subject, "is not a string, or is empty") }
        return UnsignedToken(uid: UTF8Key(uid), claims: compact.claims)
    }

    /// Returns the byte of base64url for one of base64; `nil` for padding.
    private static func urlSafe(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "="): nil
        default: byte
        }
    }
}
