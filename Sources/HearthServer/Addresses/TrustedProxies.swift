import StrictJSON

/// The proxies that are believed when they name, in `X-Forwarded-For`, the client that they pass a request on for.
///
/// Each proxy adds the address that it got the request from behind those that it was sent. So what the last proxy has added is
/// true, and what stands before it where the last one is believed; the rest anybody can have written.
struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    init(_ ranges: [AddressRange]) {
        self.ranges = ranges
    }

    /// Whether there are none, and nothing is believed.
    var isEmpty: Bool { ranges.isEmpty }

    func contains(_ address: IPAddress) -> Bool {
        ranges.contains { $0.contains(address) }
    }

    /// The client of a request: the nearest address on its way that is none of these proxies'. A proxy itself where that is not
    /// told, or not in a form that can be read.
    ///
    /// - Parameters:
    ///   - peer: Whose connection the request came by.
    ///   - fields: The values of `X-Forwarded-For`, in order.
    func client(of peer: IPAddress, forwardedFor fields: [String]) -> IPAddress {
        let hops = fields.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.map { Array($0).trimmed() }
        var client = peer
        for hop in hops.reversed() where !hop.isEmpty {
            guard contains(client), let address = IPAddress(forwarded: hop) else { break }
            client = address
        }
        return client
    }
}

extension IPAddress {
    /// Reads an address as proxies write it: with or without a port behind it, one of IPv6 then in brackets.
    fileprivate init?(forwarded text: [UInt8]) {
        var address = text
        if address.first == UInt8(ascii: "[") {
            guard let end = address.firstIndex(of: UInt8(ascii: "]")), Self.isPort(address[(end + 1)...]) else { return nil }
            address = Array(address[1..<end])
        } else if address.count(where: { $0 == UInt8(ascii: ":") }) == 1, let colon = address.firstIndex(of: UInt8(ascii: ":")) {
            guard Self.isPort(address[colon...]) else { return nil }
            address = Array(address[..<colon])
        }
        self.init(String(decoding: address, as: UTF8.self))
    }

    /// Whether there is nothing, or a colon and digits.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        text.isEmpty || (text.first == UInt8(ascii: ":") && text.dropFirst().allSatisfy(\.isDigit))
    }
}
