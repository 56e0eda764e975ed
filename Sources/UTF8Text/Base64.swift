/// Canonical base64 (RFC 4648), in which every byte sequence has exactly one encoding.
///
/// Decoding rejects whitespace, missing or excess padding and non-zero trailing bits.
package struct Base64: Sendable {
    /// The standard alphabet, padded to a multiple of four (section 4).
    package static let standard = Base64(last: "+/", isPadded: true)
    /// The alphabet for URLs and file names, without padding (section 5).
    package static let url = Base64(last: "-_", isPadded: false)

    private let alphabet: [UInt8]
    /// The decoding table: the value of each byte of the alphabet, `notInAlphabet` for all others.
    private let sextets: [UInt8]
    private let isPadded: Bool

    private static let notInAlphabet: UInt8 = 0xff
    private static let padding = UInt8(ascii: "=")

    private init(last: String, isPadded: Bool) {
        alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        var sextets = [UInt8](repeating: Self.notInAlphabet, count: 256)
        for (value, byte) in alphabet.enumerated() { sextets[Int(byte)] = UInt8(value) }
        self.sextets = sextets
        self.isPadded = isPadded
    }

    /// Encodes bytes.
    package func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var end = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let second = start + 1 < bytes.count ? bytes[start + 1] : 0
                let third = start + 2 < bytes.count ? bytes[start + 2] : 0
                let group = UInt32(bytes[start]) << 16 | UInt32(second) << 8 | UInt32(third)
                text[end] = alphabet[Int(group >> 18)]
                text[end + 1] = alphabet[Int(group >> 12 & 0x3f)]
                text[end + 2] = start + 1 < bytes.count ? alphabet[Int(group >> 6 & 0x3f)] : Self.padding
                text[end + 3] = start + 2 < bytes.count ? alphabet[Int(group & 0x3f)] : Self.padding
                end += 4
            }
            return isPadded ? end : (bytes.count * 4 + 2) / 3
        }
    }

    /// Decodes text, or returns `nil` if it isn't canonical base64.
    package func decode(_ text: String.UTF8View) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode) ?? Array(text).withUnsafeBufferPointer(decode)
    }

    private func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard !isPadded || text.count.isMultiple(of: 4) else { return nil }
        let paddingCount = isPadded ? text.suffix(2).reversed().prefix { $0 == Self.padding }.count : 0
        let significant = text.count - paddingCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var bits = 0
        for byte in text[..<significant] {
            let sextet = sextets[Int(byte)]
            guard sextet != Self.notInAlphabet else { return nil }
            group = group << 6 | UInt32(sextet)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        // Six remaining bits mean an excess character; fewer must be zero.
        return bits < 6 && group & ((1 << bits) - 1) == 0 ? bytes : nil
    }
}
