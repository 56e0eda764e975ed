/// A block of IP addresses in CIDR notation, such as `10.0.0.0/8`, or a single address.
package struct CIDRBlock: Hashable, Sendable {
    private let first: IPAddress
    /// The length of the prefix in bits.
    private let prefixLength: Int

    /// Parses an address with an optional prefix length; `nil` for invalid input, such as an address with host bits set.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        first = address
        guard parts.count == 2 else {
            prefixLength = address.bytes.count * 8
            return
        }
        guard (1...3).contains(parts[1].count), parts[1].allSatisfy(\.isDigit),
            var prefixLength = Int(String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        // An IPv4-mapped IPv6 address.
        if address.bytes.count == 4, parts[0].contains(UInt8(ascii: ":")) { prefixLength -= 96 }
        guard (0...address.bytes.count * 8).contains(prefixLength) else { return nil }
        self.prefixLength = prefixLength
        let hostBytes = address.bytes.dropFirst(prefixLength / 8)
        guard hostBytes.first.map({ $0 << (prefixLength % 8) == 0 }) ?? true, hostBytes.dropFirst().allSatisfy({ $0 == 0 }) else {
            return nil
        }
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let (wholeBytes, bits) = prefixLength.quotientAndRemainder(dividingBy: 8)
        guard address.bytes.prefix(wholeBytes) == first.bytes.prefix(wholeBytes) else { return false }
        guard bits > 0 else { return true }
        return (address.bytes[wholeBytes] ^ first.bytes[wholeBytes]) >> (8 - bits) == 0
    }
}
