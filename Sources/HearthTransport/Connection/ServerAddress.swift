public import DocumentModel
internal import Foundation
internal import UTF8Text

/// The base URL of a server: an `http` or `https` URL such as `http://127.0.0.1:8080`, with an optional path prefix.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL without a trailing slash.
    public let description: String

    /// True if connections use TLS.
    package let usesTLS: Bool

    /// True for an address of the loopback interface.
    package let isLoopback: Bool

    /// Parses a server address.
    ///
    /// - Throws: `.invalidArgument` if the text is not an `http` or `https` URL, or contains a query, fragment, user or password.
    public init(_ text: String) throws(StatusError) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = components.host, !host.isEmpty,
            components.query == nil, components.fragment == nil
        else {
            throw StatusError(
                .invalidArgument,
                "\(Excerpt(text)) is not a server address such as http://127.0.0.1:8080."
            )
        }
        guard components.user == nil, components.password == nil else {
            throw StatusError(
                .invalidArgument,
                "A server address cannot contain a user name or password. Specify the API key separately."
            )
        }
        usesTLS = scheme == "https"
        isLoopback = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host.lowercased())
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        description = String(decoding: bytes, as: UTF8.self)
    }
}
