public import DocumentModel
internal import Foundation

/// Where a server is: `http://127.0.0.1:8080`, or an `https` address, with a path where a proxy puts Hearth below one.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address without a slash at its end.
    public let description: String

    /// Checks an address.
    ///
    /// - Throws: `.invalidArgument` when it isn't an `http` or `https` address of a host, or holds what doesn't belong there.
    public init(_ text: String) throws(StatusError) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = components.host, !host.isEmpty,
            components.query == nil, components.fragment == nil
        else {
            throw StatusError(
                .invalidArgument,
                "\(Excerpt(text)) is not a server's address; expected one such as http://127.0.0.1:8080."
            )
        }
        guard components.user == nil, components.password == nil else {
            throw StatusError(.invalidArgument, "A server's address can't hold a name or password; give the key on its own.")
        }
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        description = String(decoding: bytes, as: UTF8.self)
    }
}
