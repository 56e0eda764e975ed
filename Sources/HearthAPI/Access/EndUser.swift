package import DocumentModel
package import IdentityTokens
package import SecurityRules
package import UTF8Text

/// A signed-in end user, as a verified ID token describes them.
///
/// A class, since each call copies its caller several times.
package final class EndUser: Sendable {
    /// The user's identity, which outlasts the token.
    package let id: ID
    /// The claims of the token, as rules see them.
    package let authentication: RulesRequest.Authentication
    /// The time at which the token is no longer accepted; `nil` for one that does not expire.
    package let expirationTime: Timestamp?
    /// The issuer of the token; `nil` for one that nobody has signed.
    private let issuer: TokenIssuer?
    /// The digest of the token.
    private let tokenDigest: UTF8Key

    /// The identity of an end user.
    package struct ID: Hashable, Sendable {
        /// The issuer of the tokens.
        package let issuer: UTF8Key
        /// The user's ID, unique among all issuers of the server.
        package let uid: UTF8Key

        /// Creates an identity.
        package init(issuer: UTF8Key, uid: UTF8Key) {
            self.issuer = issuer
            self.uid = uid
        }
    }

    /// Creates a user.
    ///
    /// - Parameter tokenDigest: Text that distinguishes the token from all others.
    package init(
        _ id: ID,
        authentication: RulesRequest.Authentication,
        expirationTime: Timestamp?,
        issuer: TokenIssuer? = nil,
        tokenDigest: UTF8Key
    ) {
        self.id = id
        self.authentication = authentication
        self.expirationTime = expirationTime
        self.issuer = issuer
        self.tokenDigest = tokenDigest
    }

    /// Returns whether the server accepts tokens of the issuer for a database.
    func isAccepted(for database: DatabaseID) -> Bool {
        issuer?.isAccepted(for: database) ?? true
    }

    /// Returns whether the token has expired.
    func isExpired(at now: Timestamp) -> Bool {
        expirationTime.map { $0 <= now } ?? false
    }
}

extension EndUser: Hashable {
    /// Returns whether both are of the same token, which determines the claims.
    package static func == (left: EndUser, right: EndUser) -> Bool {
        left.tokenDigest == right.tokenDigest && left.id == right.id
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(tokenDigest)
    }
}

/// The cause of an error for a caller whose ID token has expired. Clients are told so by UNAUTHENTICATED on every protocol, and get
/// themselves a new token.
package struct ExpiredToken: Error, Sendable {
    /// Creates the cause.
    package init() {}
}

extension StatusError {
    /// The error for a caller whose ID token has expired.
    package static var tokenExpired: StatusError {
        StatusError(.unauthenticated, "The ID token has expired. Get a new one from its issuer.", cause: ExpiredToken())
    }

    /// True if the caller's ID token has expired.
    package var isOfExpiredToken: Bool { cause is ExpiredToken }
}
