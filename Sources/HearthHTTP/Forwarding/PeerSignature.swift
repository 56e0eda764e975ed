package import Cryptography
import UTF8Text

/// The message authentication code (HMAC) by which a request, or the response to it, proves to come from a server of the same engine. The
/// servers share its secret, which is never sent.
package struct PeerSignature: Sendable {
    private let key: SymmetricKey

    private static let codeBytes = 32

    /// Creates the signature of servers with a secret.
    package init(secret: SymmetricKey) {
        key = secret.derived(for: "forwarded commits")
    }

    /// Returns the field value that proves a request body: its digest, and the code of the digest.
    package func requestField(for body: [UInt8]) -> String {
        let digest = Array(SHA256.digest(of: body))
        return Base64.url.encode(digest + key.authenticationCode(for: digest))
    }

    /// Returns the digest of a body in the field value of its request, before the body is read; `nil` if it does not come from a server with
    /// the secret.
    package func digest(inRequestField value: String) -> [UInt8]? {
        guard let bytes = Base64.url.decode(value.utf8), bytes.count == 2 * Self.codeBytes else { return nil }
        let digest = Array(bytes.prefix(Self.codeBytes))
        return key.isValid(Array(bytes.suffix(Self.codeBytes)), for: digest) ? digest : nil
    }

    /// Returns whether a body has a digest.
    package func matches(_ body: [UInt8], _ digest: [UInt8]) -> Bool { digest.elementsEqual(SHA256.digest(of: body)) }

    /// Returns the field value that proves the response to a request with a digest.
    package func responseField(for body: [UInt8], toRequest digest: [UInt8]) -> String {
        Base64.url.encode(Array(key.authenticationCode(for: Self.exchange(digest, body))))
    }

    /// Returns whether a response comes from a server with the secret, and is that to a request.
    package func isValid(responseField value: String, for body: [UInt8], to request: [UInt8]) -> Bool {
        guard let code = Base64.url.decode(value.utf8) else { return false }
        return key.isValid(code, for: Self.exchange(Array(SHA256.digest(of: request)), body))
    }

    private static func exchange(_ requestDigest: [UInt8], _ response: [UInt8]) -> [UInt8] {
        requestDigest + SHA256.digest(of: response)
    }
}
