import Cryptography
package import DocumentModel
package import IdentityTokens
import SecurityRules
import Synchronization
import UTF8Text

/// The authentication of end users by ID tokens.
package final class EndUserAuthenticator: Sendable {
    /// The trusted issuers; `nil` if there are none.
    package let authority: TokenAuthority?
    /// True on a server in emulator mode, which also accepts unsigned tokens and, unless it has issuers, signed ones of any issuer.
    package let acceptsUnsignedTokens: Bool
    /// The callers with the tokens that were verified last, whose claims are converted once.
    private let callers = Mutex<[SHA256Digest: Caller]>([:])

    private static let maximumCallers = 4_096

    /// Creates an authenticator.
    package init(_ authority: TokenAuthority? = nil, acceptsUnsignedTokens: Bool = false) {
        self.authority = authority
        self.acceptsUnsignedTokens = acceptsUnsignedTokens
    }

    /// Returns the user of the token that a connection has sent last, if the token is in a field and still valid.
    ///
    /// - Parameter authorization: The value of an `Authorization` field.
    package func caller(of last: LastIDToken, in authorization: String, at time: Timestamp) -> Caller? {
        guard let authority, let entry = last.entry, entry.authorization == UTF8Key(authorization) else { return nil }
        return authority.isValid(entry.token, at: time) ? entry.caller : nil
    }

    /// Returns the user of a token. Waits only for the keys of its issuer.
    ///
    /// - Parameters:
    ///   - token: The text of the token.
    ///   - authorization: The value of the `Authorization` field with the token.
    ///   - last: The last token of the connection, which becomes this one if it is valid.
    ///   - time: The current time.
    package func authenticate(
        _ token: [UInt8],
        in authorization: String,
        replacing last: LastIDToken?,
        at time: Timestamp
    ) async throws(TokenError) -> Caller {
        if acceptsUnsignedTokens {
            do throws(TokenError) {
                return Caller(EndUser(try UnsignedToken.parse(token, ignoringSignature: authority == nil), token))
            } catch {
                guard authority != nil else { throw error }
            }
        }
        guard let authority else { throw .unknownIssuer }
        let verified =
            if let cached = authority.cached(token, for: nil, at: time) {
                cached
            } else {
                try await authority.authenticate(token, for: nil, at: time)
            }
        let caller = caller(with: verified)
        last?.entry = LastIDToken.Entry(authorization: UTF8Key(authorization), token: verified, caller: caller)
        return caller
    }

    private func caller(with token: VerifiedToken) -> Caller {
        if let known = callers.withLock({ $0[token.digest] }) { return known }
        let caller = Caller(EndUser(token))
        callers.withLock { callers in
            if callers.count >= Self.maximumCallers { callers = [:] }
            callers[token.digest] = caller
        }
        return caller
    }
}

extension EndUser {
    fileprivate convenience init(_ verified: VerifiedToken) {
        self.init(
            ID(issuer: verified.issuer.issuer, uid: verified.uid),
            authentication: RulesRequest.Authentication(uid: verified.uid, claims: verified.claims),
            expirationTime: verified.lastAcceptedTime,
            issuer: verified.issuer,
            tokenDigest: UTF8Key(Hexadecimal.encode(verified.digest))
        )
    }

    fileprivate convenience init(_ unsigned: UnsignedToken, _ token: [UInt8]) {
        self.init(
            ID(issuer: "", uid: unsigned.uid),
            authentication: RulesRequest.Authentication(uid: unsigned.uid, claims: unsigned.claims),
            expirationTime: nil,
            issuer: nil,
            tokenDigest: UTF8Key(Hexadecimal.encode(SHA256.digest(of: token)))
        )
    }
}
