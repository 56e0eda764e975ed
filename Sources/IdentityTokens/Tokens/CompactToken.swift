import StrictJSON
import UTF8Text

/// A token in the JWS Compact Serialization (RFC 7515, section 3.1), decoded but not verified.
struct CompactToken: Sendable {
    /// The JOSE header, an object.
    let header: JSONNode
    /// The claims, an object.
    let claims: JSONNode
    /// The signature; empty for an unsecured token.
    let signature: [UInt8]
    /// The text that is signed: the header and the claims as they were sent.
    let signedText: [UInt8]

    /// The maximum size of a token in bytes.
    static let maximumBytes = 16 << 10
    private static let maximumDepth = 16

    /// Decodes a token.
    ///
    /// Base64url is decoded strictly, so that no two texts have the same content, and JSON with a repeated name is refused.
    init(_ token: [UInt8]) throws(TokenError) {
        guard token.count <= Self.maximumBytes else {
            throw .malformed("it is larger than \(Self.maximumBytes) bytes")
        }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("it does not have three parts") }
        header = try Self.object(in: parts[0], "header")
        claims = try Self.object(in: parts[1], "payload")
        signature = try Self.bytes(of: parts[2], "signature")
        signedText = Array(token[..<parts[1].endIndex])
    }

    /// Returns whether bytes have the shape of a token: three parts, separated by dots.
    static func hasShape(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var dots = 0
            for byte in bytes where byte == UInt8(ascii: ".") { dots += 1 }
            return dots == 2
        }
    }

    private static func object(in part: ArraySlice<UInt8>, _ name: String) throws(TokenError) -> JSONNode {
        let bytes = try bytes(of: part, name)
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(bytes, limits: JSONLimits(maximumBytes: maximumBytes, maximumDepth: maximumDepth)).root
        } catch {
            // The description of an error may quote the text.
            if case .duplicateKey = error.reason { throw .malformed("its \(name) has two members with the same name") }
            if case .tooDeep = error.reason { throw .malformed("its \(name) is nested deeper than \(maximumDepth) levels") }
            throw .malformed("its \(name) is not valid JSON")
        }
        guard root.kind == .object else { throw .malformed("its \(name) is not a JSON object") }
        return root
    }

    private static func bytes(of part: ArraySlice<UInt8>, _ name: String) throws(TokenError) -> [UInt8] {
        // Invalid UTF-8 becomes U+FFFD, which is not in the alphabet.
        guard let bytes = Base64.url.decode(String(decoding: part, as: UTF8.self).utf8) else {
            throw .malformed("its \(name) is not base64url without padding")
        }
        return bytes
    }
}
