/// Percent-encoding of URL components (RFC 3986).
package enum PercentEncoding {
    /// Encodes a path segment or the value of a query item: every byte except `A-Z a-z 0-9 - _ ~` becomes `%XX`.
    ///
    /// A `.` is encoded at the start and the end, so that no segment is `.` or `..`.
    package static func encode(_ key: UTF8Key) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(key.byteCount)
        let last = key.byteCount - 1
        for (index, byte) in key.utf8.enumerated() {
            if isUnreserved(byte) || (byte == UInt8(ascii: ".") && index > 0 && index < last) {
                encoded.append(byte)
            } else {
                encoded += escape(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns `%XX` with uppercase digits.
    package static func escape(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xf)]
    }

    /// Decodes a segment, or returns `nil` if a `%` isn't followed by two hexadecimal digits.
    package static func decode(_ segment: some Sequence<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        var bytes = segment.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(Hexadecimal.value), let low = bytes.next().flatMap(Hexadecimal.value)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
