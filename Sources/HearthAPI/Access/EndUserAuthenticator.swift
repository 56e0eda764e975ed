import Crypto
package import DocumentModel
package import IdentityTokens
import SecurityRules
import UTF8Text

/// The authentication of end users by ID tokens.
package struct EndUserAuthenticator: Sendable {
    /// The trusted issuers; `nil` if there are none.
    package let authority: TokenAuthority?
    /// True on a server in emulator mode, which also accepts unsigned tokens.
    package let acceptsUnsignedTokens: Bool

    /// Creates an authenticator.
    package init(_ authority: TokenAuthority? = nil, acceptsUnsignedTokens: Bool = false) {
        self.authority = authority
        self.acceptsUnsignedTokens = acceptsUnsignedTokens
    }

    /// Returns the user of a token. Waits only for the keys of its issuer.
    package func authenticate(_ token: [UInt8], at time: Timestamp) async throws(TokenError) -> Caller {
        if acceptsUnsignedTokens {
            do throws(TokenError) {
                return Caller(EndUser(try UnsignedToken.parse(token), token))
            } catch {
                guard authority != nil else { throw error }
            }
        }
        guard let authority else { throw .unknownIssuer }
        if let verified = authority.cached(token, for: nil, at: time) { return Caller(EndUser(verified, token)) }
        return Caller(EndUser(try await authority.authenticate(token, for: nil, at: time), token))
    }
}

extension EndUser {
    fileprivate init(_ verified: VerifiedToken, _ token: [UInt8]) {
        self.init(
            ID(issuer: verified.issuer.issuer, uid: verified.uid),
            authentication: RulesRequest.Authentication(uid: verified.uid, claims: verified.claims),
            expirationTime: verified.lastAcceptedTime,
            issuer: verified.issuer,
            tokenDigest: Self.digest(of: token)
        )
    }

    fileprivate init(_ unsigned: UnsignedToken, _ token: [UInt8]) {
        self.init(
            ID(issuer: "", uid: unsigned.uid),
            authentication: RulesRequest.Authentication(uid: unsigned.uid, claims: unsigned.claims),
            expirationTime: nil,
            issuer: nil,
            tokenDigest: Self.digest(of: token)
        )
    }

    private static func digest(of token: [UInt8]) -> UTF8Key {
        UTF8Key(Hexadecimal.encode(SHA256.hash(data: token)))
    }
}
