import StrictJSON
import UTF8Text

/// The parameters of a token's header that decide how it is verified (RFC 7515, section 4).
///
/// Keys and addresses of keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are never used (RFC 8725, section 3.10).
struct JOSEHeader: Sendable {
    /// The name of the algorithm.
    let algorithm: String
    /// The key ID, if there is one.
    let keyID: UTF8Key?

    private static let types = ["jwt", "at+jwt"]
    private static let mediaTypePrefix = "application/"

    /// Reads the parameters.
    ///
    /// - Throws: ``TokenError/malformed(_:)`` for extensions that must be understood, and for types that are no JSON Web Token.
    init(_ header: JSONNode) throws(TokenError) {
        guard let algorithm = header["alg"]?.string else { throw .malformed("its header names no algorithm") }
        guard header["crit"] == nil else { throw .malformed("its header requires extensions (crit), of which none is supported") }
        if let type = header["typ"] {
            // Otherwise a logout token or a security event could pass for an ID token (RFC 8725, section 3.11).
            guard let type = type.string, Self.isTokenType(type) else { throw .malformed("its type (typ) is not JWT") }
        }
        self.algorithm = algorithm
        guard let id = header["kid"] else {
            keyID = nil
            return
        }
        guard let id = id.string, !id.utf8.isEmpty else { throw .malformed("its key ID (kid) is not a string, or is empty") }
        keyID = UTF8Key(id)
    }

    /// Returns whether a type is that of an ID token or an access token (RFC 9068). Media types are not case-sensitive.
    private static func isTokenType(_ type: String) -> Bool {
        var name = type.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }[...]
        if name.starts(with: mediaTypePrefix.utf8) { name = name.dropFirst(mediaTypePrefix.utf8.count) }
        return types.contains { $0.utf8.elementsEqual(name) }
    }
}
