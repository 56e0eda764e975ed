/// Canonical base64 (RFC 4648, section 4): every sequence of bytes has exactly one text.
///
/// The standard alphabet, padded to a multiple of four, no white space, and no bits set that belong to no byte. Whatever
/// else a text may be is refused, so that two texts never stand for the same bytes.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The value of each byte in the alphabet; `notInAlphabet` for all others.
    private static let sextets: [UInt8] = {
        var sextets = [UInt8](repeating: notInAlphabet, count: 256)
        for (value, byte) in alphabet.enumerated() { sextets[Int(byte)] = UInt8(value) }
        return sextets
    }()
    private static let notInAlphabet: UInt8 = 0xff

    /// The text of `bytes`.
    static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var end = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let second = start + 1 < bytes.count ? bytes[start + 1] : 0
                let third = start + 2 < bytes.count ? bytes[start + 2] : 0
                let group = UInt32(bytes[start]) << 16 | UInt32(second) << 8 | UInt32(third)
                text[end] = alphabet[Int(group >> 18)]
                text[end + 1] = alphabet[Int(group >> 12 & 0x3f)]
                text[end + 2] = start + 1 < bytes.count ? alphabet[Int(group >> 6 & 0x3f)] : padding
                text[end + 3] = start + 2 < bytes.count ? alphabet[Int(group & 0x3f)] : padding
                end += 4
            }
            return end
        }
    }

    /// The bytes of a text; nil when the text isn't canonical base64.
    static func decode(_ text: String.UTF8View) -> [UInt8]? {
        text.withContiguousStorageIfAvailable(decode) ?? Array(text).withUnsafeBufferPointer(decode)
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let paddings = text.suffix(2).reversed().prefix { $0 == padding }.count
        let significant = text.count - paddings
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var bits = 0
        for byte in text[..<significant] {
            let sextet = sextets[Int(byte)]
            guard sextet != notInAlphabet else { return nil }
            group = group << 6 | UInt32(sextet)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> bits))
            }
        }
        let strayBits = group & ((1 << bits) - 1)
        return strayBits == 0 ? bytes : nil
    }
}
