package import DocumentModel

/// The authentication of end users by the ID tokens of configured issuers.
///
/// ```swift
/// let user = if let user = authority.cached(token, for: database, at: now) { user } else {
///     try await authority.authenticate(token, for: database, at: now)
/// }
/// ```
package final class TokenAuthority: Sendable {
    /// The trusted issuers.
    package let issuers: TokenIssuers
    /// The keys of the issuers.
    package let keySets: KeySetCache
    private let verifier: TokenVerifier
    private let tokens: VerifiedTokenCache

    /// Creates an authority. The keys of issuers with files must be added to `keySets`.
    package init(_ issuers: TokenIssuers, keySets: KeySetCache, tokens: VerifiedTokenCache = VerifiedTokenCache()) {
        self.issuers = issuers
        self.keySets = keySets
        self.tokens = tokens
        verifier = TokenVerifier(issuers)
    }

    /// Returns whether text has the shape of an ID token: three parts, separated by dots.
    package static func isToken(_ text: [UInt8]) -> Bool {
        CompactToken.hasShape(text)
    }

    /// Returns a token that has been verified before and is still valid, without waiting.
    ///
    /// - Parameters:
    ///   - token: The text of the token.
    ///   - database: The database that the caller uses, or `nil` if there is none yet. In that case check
    ///     ``TokenIssuer/isAccepted(for:)`` before each use of a database.
    ///   - time: The current time.
    /// - Returns: `nil` if the token has to be passed to ``authenticate(_:for:at:)``, which tells why it is refused.
    package func cached(_ token: [UInt8], for database: DatabaseID?, at time: Timestamp) -> VerifiedToken? {
        guard token.count <= CompactToken.maximumBytes else { return nil }
        let verified = tokens.token(token) { isValid($0, at: time) }
        return verified.flatMap { Self.isAccepted($0.issuer, for: database) ? $0 : nil }
    }

    /// Returns whether a token that has been verified before is still valid: it has not expired, and its issuer's keys are the same.
    package func isValid(_ token: VerifiedToken, at time: Timestamp) -> Bool {
        time < token.expirationTime && keySets.generation(of: token.issuer) == token.keySetGeneration
    }

    /// Authenticates a user by a token, and caches the token.
    ///
    /// Waits only if the keys of the issuer have to be fetched: at most 5 seconds for keys that are missing or outdated, and again
    /// for a key ID that is unknown, at most once a minute for each issuer.
    ///
    /// - Parameters:
    ///   - token: The text of the token.
    ///   - database: The database that the caller uses, or `nil` if there is none yet. In that case check
    ///     ``TokenIssuer/isAccepted(for:)`` before each use of a database.
    ///   - time: The current time.
    package func authenticate(
        _ token: [UInt8],
        for database: DatabaseID?,
        at time: Timestamp
    ) async throws(TokenError) -> VerifiedToken {
        if let verified = cached(token, for: database, at: time) { return verified }
        let unverified = try verifier.check(token, at: time)
        let issuer = unverified.issuer
        if let database, !issuer.isAccepted(for: database) { throw .forbiddenDatabase(database) }
        guard let keySet = await keySets.keySet(of: issuer) else { throw .keysUnavailable(issuer: issuer.issuer) }
        do throws(TokenError) {
            return try verify(unverified, token, with: keySet)
        } catch .unknownKey {
            guard let newer = await keySets.refresh(issuer, after: keySet.generation) else {
                throw .unknownKey(issuer: issuer.issuer)
            }
            return try verify(unverified, token, with: newer)
        }
    }

    private func verify(
        _ unverified: UnverifiedToken,
        _ token: [UInt8],
        with keySet: LoadedKeySet
    ) throws(TokenError) -> VerifiedToken {
        let verified = try unverified.verified(with: keySet)
        tokens.insert(verified, text: token)
        return verified
    }

    private static func isAccepted(_ issuer: TokenIssuer, for database: DatabaseID?) -> Bool {
        database.map(issuer.isAccepted) ?? true
    }
}
