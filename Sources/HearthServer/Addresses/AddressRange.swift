/// The IP addresses that begin with the same bits, such as those of `10.0.0.0/8`, or a single one.
package struct AddressRange: Hashable, Sendable {
    private let first: IPAddress
    /// How many bits they have in common.
    private let bitCount: Int

    /// Reads an address, or one with the number of bits behind it that count and zeros after these; nil for anything else.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { return nil }
        first = address
        guard parts.count == 2 else {
            bitCount = address.bytes.count * 8
            return
        }
        guard (1...3).contains(parts[1].count), parts[1].allSatisfy(\.isDigit),
            var bitCount = Int(String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        // One of IPv4 that is written as one of IPv6.
        if address.bytes.count == 4, parts[0].contains(UInt8(ascii: ":")) { bitCount -= 96 }
        guard (0...address.bytes.count * 8).contains(bitCount) else { return nil }
        self.bitCount = bitCount
        let rest = address.bytes.dropFirst(bitCount / 8)
        guard rest.first.map({ $0 << (bitCount % 8) == 0 }) ?? true, rest.dropFirst().allSatisfy({ $0 == 0 }) else { return nil }
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let (wholeBytes, bits) = bitCount.quotientAndRemainder(dividingBy: 8)
        guard address.bytes.prefix(wholeBytes) == first.bytes.prefix(wholeBytes) else { return false }
        guard bits > 0 else { return true }
        return (address.bytes[wholeBytes] ^ first.bytes[wholeBytes]) >> (8 - bits) == 0
    }
}
