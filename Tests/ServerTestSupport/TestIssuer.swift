import Crypto
import DocumentModel
import DocumentStore
package import HearthAPI
import IdentityTokens
import UTF8Text

/// An issuer of ID tokens with a secret, which a server trusts.
package struct TestIssuer: Sendable {
    private static let issuer = "tests"
    private let secret = Array("a secret of at least thirty-two bytes".utf8)

    package init() {}

    /// The authentication of a server that trusts the issuer.
    package func endUsers() throws -> EndUserAuthenticator {
        let issuer = try Self.configuration()
        let keySets = KeySetCache(fetch: { _ in throw StatusError(.internal, "The issuer has no address.") })
        try keySets.update(issuer, to: secret)
        return EndUserAuthenticator(TokenAuthority(try TokenIssuers([issuer]), keySets: keySets))
    }

    /// Replaces the secret that a server trusts, so that it refuses all tokens of this issuer.
    package static func replaceSecret(of endUsers: EndUserAuthenticator) throws {
        try endUsers.authority?.keySets.update(configuration(), to: Array("another secret of at least thirty-two bytes".utf8))
    }

    private static func configuration() throws -> TokenIssuer {
        try TokenIssuer(UTF8Key(issuer), audiences: ["hearth"], algorithms: [.hs256], keySource: .secretFile("secret"))
    }

    /// Returns a token.
    ///
    /// - Parameters:
    ///   - lifetime: The time until it expires, in seconds; negative for a token that has expired.
    ///   - signature: The signature instead of the right one.
    package func token(_ uid: String, lifetime: Int64 = 3_600, signature: [UInt8]? = nil) -> String {
        let expiry = Timestamp.current().microseconds / 1_000_000 + lifetime
        let header = Base64.url.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))
        let claims = #"{"iss":"\#(Self.issuer)","aud":"hearth","sub":"\#(uid)","exp":\#(expiry)}"#
        let signed = header + "." + Base64.url.encode(Array(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: secret))
        return signed + "." + Base64.url.encode(signature ?? Array(code))
    }

    /// The times in seconds after which a test lets a token expire: the next one if the machine is too slow for the one before.
    package static let expiries: [Int64] = [2, 8, 32, 128]

    /// Returns a token that the server accepts for some seconds, within the tolerance for clocks.
    package func token(_ uid: String, acceptedFor seconds: Int64) -> String {
        token(uid, lifetime: seconds - 60)
    }

    /// Returns an unsigned token, as test programs for Firestore's emulator make them.
    package static func unsignedToken(_ uid: String) -> String {
        let header = Base64.url.encode(Array(#"{"alg":"none","type":"JWT"}"#.utf8))
        return header + "." + Base64.url.encode(Array(#"{"sub":"\#(uid)","user_id":"\#(uid)","iat":0,"exp":3600}"#.utf8)) + "."
    }
}
