/// The proxies whose `X-Forwarded-For` header is trusted to name the client, and whose `X-Forwarded-Proto` header to tell whether it
/// uses TLS.
///
/// Each proxy appends the address from which it received the request. The last address is therefore reliable when the peer is
/// trusted, the one before it when the last is trusted too, and so on; anyone can have forged the remainder.
struct TrustedProxies: Sendable {
    private let blocks: [CIDRBlock]

    init(_ blocks: [CIDRBlock]) {
        self.blocks = blocks
    }

    /// True if no proxy is trusted.
    var isEmpty: Bool { blocks.isEmpty }

    func contains(_ address: IPAddress) -> Bool {
        blocks.contains { $0.contains(address) }
    }

    /// Returns the client of a request: the last address that is not a trusted proxy. When a proxy does not report a readable
    /// address, returns the proxy itself.
    ///
    /// - Parameters:
    ///   - peer: The peer of the connection.
    ///   - fields: The values of `X-Forwarded-For`, in order.
    func client(of peer: IPAddress, forwardedFor fields: [String]) -> IPAddress {
        let hops = fields.flatMap { HeaderListElement.split($0) }
        var client = peer
        for hop in hops.reversed() where !hop.isEmpty {
            guard contains(client), let address = IPAddress(forwarded: hop) else { break }
            client = address
        }
        return client
    }

    /// Returns whether a client uses TLS according to the peer of the connection; `nil` if that is not trusted or does not say it.
    ///
    /// - Parameter fields: The values of `X-Forwarded-Proto`. Several proxies may have added to it; each must have been reached by TLS.
    func isSecure(behind peer: IPAddress?, forwardedProto fields: [String]) -> Bool? {
        guard !isEmpty, !fields.isEmpty, let peer, contains(peer) else { return nil }
        let schemes = fields.flatMap { HeaderListElement.split($0) }
        return !schemes.isEmpty && schemes.allSatisfy { $0.map(\.lowercased) == Array("https".utf8) }
    }
}

extension IPAddress {
    /// Parses an address as proxies write it: with an optional port, in which case an IPv6 address is in brackets.
    fileprivate init?(forwarded text: [UInt8]) {
        var address = text
        if address.first == UInt8(ascii: "[") {
            guard let end = address.firstIndex(of: UInt8(ascii: "]")), Self.isEmptyOrPort(address[(end + 1)...]) else {
                return nil
            }
            address = Array(address[1..<end])
        } else if address.count(where: { $0 == UInt8(ascii: ":") }) == 1, let colon = address.firstIndex(of: UInt8(ascii: ":")) {
            guard Self.isEmptyOrPort(address[colon...]) else { return nil }
            address = Array(address[..<colon])
        }
        self.init(String(decoding: address, as: UTF8.self))
    }

    /// Returns whether text is empty or a colon followed by digits.
    private static func isEmptyOrPort(_ text: ArraySlice<UInt8>) -> Bool {
        text.isEmpty || (text.first == UInt8(ascii: ":") && text.dropFirst().allSatisfy(\.isDigit))
    }
}
