import DocumentModel
import StrictJSON
import UTF8Text

/// The checked claims of a token whose signature has not been verified yet.
struct TokenClaims: Sendable {
    let subject: UTF8Key
    let uid: UTF8Key
    let expirationTime: Timestamp

    /// The tolerance for differences between the clocks of the server and the issuer.
    static let clockSkewMicroseconds: Int64 = 60_000_000
    /// The claims with times that must not lie ahead.
    private static let startClaims: [UTF8Key] = ["nbf", "iat", "auth_time"]
    /// Those that every token of Firebase has.
    private static let firebaseClaims: [UTF8Key] = ["iat", "auth_time"]
    private static let maximumSubjectBytes = 255
    private static let maximumFirebaseSubjectLength = 128

    /// Checks the claims of a token (OpenID Connect Core 1.0, section 3.1.3.7).
    init(_ claims: JSONNode, of issuer: TokenIssuer, at now: Timestamp) throws(TokenError) {
        let reader = ClaimReader(claims)
        let isFirebase = issuer.kind == .firebase
        guard let expirationTime = try reader.time("exp") else { throw .invalidClaim("exp", "is missing") }
        guard now.microseconds - expirationTime.microseconds < Self.clockSkewMicroseconds else { throw .expired(expirationTime) }
        for name in Self.startClaims {
            guard let time = try reader.time(name) else {
                if isFirebase, Self.firebaseClaims.contains(name) { throw .invalidClaim(name, "is missing") }
                continue
            }
            guard time.microseconds - now.microseconds <= Self.clockSkewMicroseconds else {
                throw .notYetValid(claim: name, time)
            }
        }
        try Self.checkAudience(reader, issuer)
        subject = try Self.userID(reader, TokenIssuer.subjectClaim, isFirebase: isFirebase)
        uid = try issuer.uidClaim == TokenIssuer.subjectClaim ? subject : Self.userID(reader, issuer.uidClaim, isFirebase: false)
        self.expirationTime = expirationTime
    }

    /// Requires a configured audience. A token for several audiences must also have been issued to a configured one.
    private static func checkAudience(_ claims: ClaimReader, _ issuer: TokenIssuer) throws(TokenError) {
        let audiences = try claims.audiences()
        guard audiences.contains(where: issuer.audiences.contains) else { throw .wrongAudience }
        guard audiences.count > 1 else { return }
        guard issuer.kind != .firebase, let party = try claims.string("azp"), issuer.audiences.contains(party) else {
            throw .wrongAudience
        }
    }

    private static func userID(_ claims: ClaimReader, _ name: UTF8Key, isFirebase: Bool) throws(TokenError) -> UTF8Key {
        guard let id = try claims.string(name) else { throw .invalidClaim(name, "is missing") }
        guard id.byteCount > 0 else { throw .invalidClaim(name, "is empty") }
        let isTooLong =
            isFirebase ? id.string.utf16.count > maximumFirebaseSubjectLength : id.byteCount > maximumSubjectBytes
        guard !isTooLong else {
            let maximum = isFirebase ? "\(maximumFirebaseSubjectLength) characters" : "\(maximumSubjectBytes) bytes"
            throw .invalidClaim(name, "is longer than \(maximum)")
        }
        return id
    }
}

/// A reader of registered claims (RFC 7519, section 4.1).
private struct ClaimReader {
    private let claims: JSONNode

    init(_ claims: JSONNode) {
        self.claims = claims
    }

    func string(_ name: UTF8Key) throws(TokenError) -> UTF8Key? {
        guard let claim = claims[name] else { return nil }
        guard let string = claim.string else { throw .invalidClaim(name, "is not a string") }
        return UTF8Key(string)
    }

    /// Returns the audiences, which may be one string or a list of strings.
    func audiences() throws(TokenError) -> [UTF8Key] {
        guard let claim = claims["aud"] else { throw .invalidClaim("aud", "is missing") }
        if let audience = claim.string { return [UTF8Key(audience)] }
        guard let elements = claim.elements else { throw .invalidClaim("aud", "is neither a string nor a list of strings") }
        var audiences: [UTF8Key] = []
        for element in elements {
            guard let audience = element.string else { throw .invalidClaim("aud", "has an audience that is not a string") }
            audiences.append(UTF8Key(audience))
        }
        return audiences
    }

    /// Returns the time of a claim in seconds since 1970, possibly with a fraction.
    func time(_ name: UTF8Key) throws(TokenError) -> Timestamp? {
        guard let claim = claims[name] else { return nil }
        guard let number = claim.number else { throw .invalidClaim(name, "is not a number") }
        let microseconds: Int64? =
            switch number {
            case .integer(let seconds): seconds >= 0 ? seconds.checkedProduct(1_000_000) : nil
            case .double(let seconds): seconds >= 0 ? Int64(exactly: (seconds * 1_000_000).rounded(.down)) : nil
            case .outOfRange: nil
            }
        guard let time = microseconds.flatMap({ try? Timestamp(microseconds: $0) }) else {
            throw .invalidClaim(name, "is not a time from 1970 to 9999 in seconds")
        }
        return time
    }
}

extension Int64 {
    fileprivate func checkedProduct(_ other: Int64) -> Int64? {
        let (product, hasOverflowed) = multipliedReportingOverflow(by: other)
        return hasOverflowed ? nil : product
    }
}
