package import DocumentModel
package import UTF8Text

/// A reason why an ID token is not accepted. The texts never contain the token.
package enum TokenError: Error, Hashable, Sendable {
    /// The token does not have the form of a signed JSON Web Token; with the problem as a clause.
    case malformed(String)
    /// The header names an algorithm that the issuer does not use, such as `none`.
    case forbiddenAlgorithm
    /// The issuer is not configured.
    case unknownIssuer
    /// The issuer, known by its configured text, has no key with the token's key ID. A newer key set may have one.
    case unknownKey(issuer: UTF8Key)
    /// No key set of the issuer has been loaded. The caller may retry.
    case keysUnavailable(issuer: UTF8Key)
    /// The signature is not that of the key.
    case badSignature
    /// The token has expired. The client must get a new one.
    case expired(Timestamp)
    /// The time in a claim (`nbf`, `iat` or `auth_time`) lies ahead.
    case notYetValid(claim: UTF8Key, Timestamp)
    /// The token was issued for another audience.
    case wrongAudience
    /// A claim is missing or invalid; with the problem as the predicate of a sentence.
    case invalidClaim(UTF8Key, String)
    /// Tokens of the issuer are not accepted for the database.
    case forbiddenDatabase(DatabaseID)

    /// True if the token has expired, and a new one may be accepted.
    package var isExpired: Bool {
        if case .expired = self { true } else { false }
    }

    /// True if the same token may be accepted later.
    package var isTemporary: Bool {
        if case .keysUnavailable = self { true } else { false }
    }
}

extension TokenError: CustomStringConvertible {
    /// The reason as one or two sentences, without control characters.
    package var description: String {
        switch self {
        case .malformed(let problem):
            "The ID token is malformed: \(problem)."
        case .forbiddenAlgorithm:
            "The ID token is signed with an algorithm that is not allowed for its issuer, or not signed."
        case .unknownIssuer:
            "The issuer of the ID token is not configured on this server."
        case .unknownKey(let issuer):
            "The ID token is signed with an unknown key of \(Excerpt(issuer.string)). Sign in again."
        case .keysUnavailable(let issuer):
            "The keys of \(Excerpt(issuer.string)) are not available. Retry the call later."
        case .badSignature:
            "The signature of the ID token is invalid."
        case .expired(let time):
            "The ID token expired at \(time). Get a new one from its issuer."
        case .notYetValid(let claim, let time):
            "The ID token is not valid before \(time) (claim \(claim)). Check the clocks of the server and of the issuer."
        case .wrongAudience:
            "The ID token was issued for another audience. Use one that was issued for this server."
        case .invalidClaim(let claim, let problem):
            "The claim \(Excerpt(claim.string).text) of the ID token \(problem)."
        case .forbiddenDatabase(let database):
            "ID tokens of this issuer are not accepted for the database \(Excerpt(database.description))."
        }
    }
}
