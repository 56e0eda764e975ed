import DocumentModel
import HTTPTypes
import Hummingbird
import StrictJSON

/// Lets through only requests that call the server by a name of its own.
///
/// A page of another site can make its name resolve to this machine and so have a browser ask here as if it were the same
/// site. The name in `Host` gives it away; ``ConnectionHandler`` has put the one there that stood in the target.
struct HostMiddleware: RouterMiddleware {
    private let allowed: Set<UTF8Key>
    private let allowsOwnAddress: Bool

    /// Allows the names of this machine's loopback, the address listened on, and others.
    ///
    /// - Parameter allowsOwnAddress: Whether the address by which a connection was taken is a name too, where more than one is
    ///   listened on. An address is never the name of another site.
    init(listeningOn host: String, others: [String], allowsOwnAddress: Bool = false) {
        self.allowsOwnAddress = allowsOwnAddress
        var allowed: Set<UTF8Key> = ["localhost", "127.0.0.1", "[::1]"]
        for host in [host] + others {
            if let name = Self.name(configured: host) { allowed.insert(name) }
        }
        self.allowed = allowed
    }

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        // The first Host field has become the authority; any other is still among the fields.
        guard let authority = request.head.authority, request.headers[values: .secondHost].isEmpty else {
            throw HTTPFailure(.badRequest, .invalidArgument, "A request has exactly one Host header.")
        }
        guard let name = Self.name(in: authority), allowed.contains(name) || isOwnAddress(name, in: context) else {
            let refused = Excerpt(Self.name(in: authority)?.string ?? authority)
            throw HTTPFailure(
                .misdirectedRequest,
                .permissionDenied,
                "This server is not called by the name \(refused). Use its address, or start it with --allow-host \(refused.text)."
            )
        }
        return try await next(request, context)
    }

    private func isOwnAddress(_ name: UTF8Key, in context: HearthRequestContext) -> Bool {
        guard allowsOwnAddress, let address = context.channel.localAddress?.ipAddress else { return false }
        // So IPv4 shows where IPv6 is listened on.
        let mapped = "::ffff:".utf8
        let isMapped = address.utf8.starts(with: mapped) && address.utf8.contains(UInt8(ascii: "."))
        return Self.name(configured: isMapped ? String(Substring(address.utf8.dropFirst(mapped.count))) : address) == name
    }

    /// The name in a Host header of an address or a name that is given without port, an IPv6 address with or without brackets.
    private static func name(configured host: String) -> UTF8Key? {
        let isBareAddress = host.utf8.count { $0 == UInt8(ascii: ":") } > 1 && host.utf8.first != UInt8(ascii: "[")
        return name(in: isBareAddress ? "[\(host)]" : host)
    }

    /// The host of `host[:port]` in small letters, an IPv6 address in its brackets; nil when it is not of that form.
    static func name(in authority: String) -> UTF8Key? {
        let bytes = authority.utf8.map(\.lowercased)
        let end: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bracket + 1
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
        }
        let port = bytes[end...]
        guard port.isEmpty || port.first == UInt8(ascii: ":"), port.dropFirst().allSatisfy(\.isDigit) else { return nil }
        return UTF8Key(validating: bytes[..<end])
    }
}

extension UInt8 {
    var isDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
