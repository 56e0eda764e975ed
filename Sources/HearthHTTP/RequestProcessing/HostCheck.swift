import DocumentModel
import HTTPTypes
import HummingbirdCore
import NIOCore
import UTF8Text

/// The check that the `Host` of a request is one of the server's names, which prevents DNS rebinding.
///
/// An attacker's page can make its host name resolve to this machine, so that the browser treats the server as same-origin,
/// but `Host` still has the attacker's name. For a target in absolute form, ``HTTP1ConnectionHandler`` has replaced `Host`.
///
/// A route that allows it answers programs on this machine whatever `Host` they send, since health checks often send a name of
/// their own. Requests that a proxy on this machine forwards are checked.
struct HostCheck: Sendable {
    private let allowedNames: Set<UTF8Key>
    private let allowsOwnAddress: Bool

    /// Creates the check with the loopback names, the listening address and additional names.
    ///
    /// - Parameter allowsOwnAddress: Whether the local address of the connection is also allowed, for a server that listens on
    ///   all addresses. An address cannot be the name of another site.
    init(listeningOn host: String, allowedHosts: [String], allowsOwnAddress: Bool = false) {
        self.allowsOwnAddress = allowsOwnAddress
        var allowedNames: Set<UTF8Key> = ["localhost", "127.0.0.1", "[::1]"]
        for host in [host] + allowedHosts {
            if let name = Self.name(configured: host) { allowedNames.insert(name) }
        }
        self.allowedNames = allowedNames
    }

    /// Verifies the host of a request, and records in its context whether it is one of the server's names.
    ///
    /// - Throws: ``HTTPFailure``: 400 without exactly one `Host`; 421 for another host.
    func verify(_ request: Request, in context: inout HearthRequestContext) throws(HTTPFailure) {
        // The first Host field has become the authority; any other one is still among the fields.
        guard let authority = request.head.authority, request.headers[values: .secondHost].isEmpty else {
            throw HTTPFailure(.badRequest, .invalidArgument, "The request must have exactly one Host header.")
        }
        let name = Self.name(in: authority)
        context.hasKnownHost = name.map { allowedNames.contains($0) || isOwnAddress($0, in: context) } ?? false
        guard context.hasKnownHost || isLocalCheck(request, in: context) else {
            let rejected = Excerpt(name?.string ?? authority)
            throw HTTPFailure(
                .misdirectedRequest,
                .permissionDenied,
                "The host \(rejected) is not allowed. Use the server's address, or start it with --allow-host \(rejected.text)."
            )
        }
    }

    private func isLocalCheck(_ request: Request, in context: HearthRequestContext) -> Bool {
        context.route.policy.allowsAnyLocalHost && context.client?.isLoopback == true
            && !request.headers.contains(.xForwardedFor) && !request.headers.contains(.forwarded)
    }

    private func isOwnAddress(_ name: UTF8Key, in context: HearthRequestContext) -> Bool {
        guard allowsOwnAddress, let address = context.channel.localAddress?.ipAddress else { return false }
        // A dual-stack socket reports IPv4 addresses in mapped form.
        let mapped = "::ffff:".utf8
        let isMapped = address.utf8.starts(with: mapped) && address.utf8.contains(UInt8(ascii: "."))
        return Self.name(configured: isMapped ? String(Substring(address.utf8.dropFirst(mapped.count))) : address) == name
    }

    /// Returns whether a host is `localhost` or has a name below it.
    static func isLocalhost(_ authority: String?) -> Bool {
        guard let name = authority.flatMap({ name(in: $0) })?.string else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Returns the `Host` form of a name or address without a port; an IPv6 address may lack its brackets.
    private static func name(configured host: String) -> UTF8Key? {
        let isBareAddress = host.utf8.count { $0 == UInt8(ascii: ":") } > 1 && host.utf8.first != UInt8(ascii: "[")
        return name(in: isBareAddress ? "[\(host)]" : host)
    }

    /// Returns the host of `host[:port]` in lowercase, with the brackets of an IPv6 address; `nil` for invalid syntax.
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
