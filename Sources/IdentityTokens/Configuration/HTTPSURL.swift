package import DocumentModel
import UTF8Text

/// The address of a resource that is fetched over HTTPS.
package struct HTTPSURL: Hashable, Sendable, CustomStringConvertible {
    /// The address: an ASCII text that begins with `https://` and has a host, and neither credentials nor a fragment.
    package let description: String

    private static let scheme = "https://"
    private static let maximumBytes = 2_048

    /// Creates an address.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for another scheme, and for text that is no address.
    package init(_ text: String) throws(StatusError) {
        guard text.utf8.starts(with: Self.scheme.utf8) else {
            throw StatusError(.invalidArgument, "Expected an address that begins with https://, found \(Excerpt(text)).")
        }
        let rest = text.utf8.dropFirst(Self.scheme.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let isValid =
            text.utf8.count <= Self.maximumBytes && Self.isAuthority(authority)
            && rest.allSatisfy { (0x21...0x7e).contains($0) && !"\"#<>\\^`{|}".utf8.contains($0) }
        guard isValid else {
            throw StatusError(
                .invalidArgument,
                "Expected an address such as https://id.example.org/keys, without spaces, credentials and a fragment, "
                    + "found \(Excerpt(text))."
            )
        }
        description = text
    }

    /// Returns whether text is a host name or an IP address, with an optional port.
    private static func isAuthority(_ text: Substring.UTF8View) -> Bool {
        let host = text.prefix { $0 != UInt8(ascii: ":") }
        if host.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = text[text.index(after: text.startIndex)..<end]
            return !address.isEmpty && address.allSatisfy { Hexadecimal.value(of: $0) != nil || ":.".utf8.contains($0) }
                && isPort(text[text.index(after: end)...])
        }
        return !host.isEmpty && host.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
            && isPort(text.dropFirst(host.count))
    }

    private static func isPort(_ text: Substring.UTF8View) -> Bool {
        if text.isEmpty { return true }
        let digits = text.dropFirst()
        return text.first == UInt8(ascii: ":") && (1...5).contains(digits.count)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension UInt8 {
    /// True for an ASCII letter or digit.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
