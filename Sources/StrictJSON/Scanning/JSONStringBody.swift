import UTF8Text

/// The bytes between the quotes of a validated JSON string.
struct JSONStringBody {
    let bytes: UnsafeBufferPointer<UInt8>
    let hasEscapes: Bool

    /// Creates the body of a string or key on the tape.
    @inline(__always)
    init(_ entry: JSONTapeEntry, in text: UnsafeBufferPointer<UInt8>) {
        bytes = UnsafeBufferPointer(rebasing: text[Int(entry.start) + 1..<Int(entry.end) - 1])
        hasEscapes = entry.kind == .escapedString
    }

    /// The unescaped text.
    var string: String {
        guard hasEscapes else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { unescape(into: $0) }
    }

    /// Calls `body` with the unescaped bytes, which are copied only if there are escapes.
    @inline(__always)
    func withUnescaped<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard hasEscapes else { return body(bytes) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { buffer in
            let count = unescape(into: buffer)
            return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Returns whether both are equal after unescaping.
    func isEqual(to other: JSONStringBody) -> Bool {
        withUnescaped { left in other.withUnescaped { right in left.hasSameBytes(as: right) } }
    }

    /// Writes the unescaped bytes to `output` and returns their count, which never exceeds that of the escaped bytes.
    private func unescape(into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var read = 0
        var written = 0
        while read < bytes.count {
            let byte = bytes[read]
            read += 1
            guard byte == UInt8(ascii: "\\") else {
                output[written] = byte
                written += 1
                continue
            }
            let escape = bytes[read]
            read += 1
            guard escape == UInt8(ascii: "u") else {
                output[written] = Self.unescaped(escape)
                written += 1
                continue
            }
            var scalar = hexadecimal(at: read)
            read += 4
            if scalar & 0xfc00 == 0xd800 {
                // The scanner has validated the low surrogate: a backslash, `u` and four digits.
                scalar = 0x1_0000 + (scalar & 0x3ff) << 10 + hexadecimal(at: read + 2) & 0x3ff
                read += 6
            }
            written += Self.encode(scalar, into: UnsafeMutableBufferPointer(rebasing: output[written...]))
        }
        return written
    }

    private func hexadecimal(at index: Int) -> UInt32 {
        var value: UInt32 = 0
        for digit in bytes[index..<index + 4] {
            value = value << 4 | UInt32(digit.hexadecimalValue ?? 0)
        }
        return value
    }

    private static func unescaped(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func encode(_ scalar: UInt32, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        func trailing(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift) & 0x3f }
        switch scalar {
        case ..<0x80:
            output[0] = UInt8(scalar)
            return 1
        case ..<0x800:
            output[0] = 0xc0 | UInt8(scalar >> 6)
            output[1] = trailing(0)
            return 2
        case ..<0x1_0000:
            output[0] = 0xe0 | UInt8(scalar >> 12)
            output[1] = trailing(6)
            output[2] = trailing(0)
            return 3
        default:
            output[0] = 0xf0 | UInt8(scalar >> 18)
            output[1] = trailing(12)
            output[2] = trailing(6)
            output[3] = trailing(0)
            return 4
        }
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
