/// Finds the next byte in a string that needs a closer look, eight bytes at a time.
///
/// Each test leaves the top bit of a byte set where it holds. The subtractions can carry into a
/// following byte and mark it falsely, but never one before the first true mark, and only the
/// first mark is used.
private struct EightBytes {
    private let word: UInt64

    @inline(__always)
    init(of text: UnsafeBufferPointer<UInt8>, at offset: Int) {
        word = UInt64(littleEndian: UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static let topBits = repeating(0x80)

    @inline(__always)
    private static func repeating(_ byte: UInt8) -> UInt64 {
        UInt64(byte) &* 0x0101_0101_0101_0101
    }

    @inline(__always)
    func equal(to byte: UInt8) -> UInt64 {
        let difference = word ^ Self.repeating(byte)
        return (difference &- Self.repeating(1)) & ~difference & Self.topBits
    }

    @inline(__always)
    var controls: UInt64 { (word &- Self.repeating(0x20)) & ~word & Self.topBits }

    @inline(__always)
    var nonASCII: UInt64 { word & Self.topBits }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first index from `start` on whose byte can't be taken over when reading a string without
    /// looking closer: a quote, backslash, control or non-ASCII byte; the count when there is none.
    @inline(__always)
    func endOfPlainASCII(from start: Int) -> Int {
        var index = start
        while count - index >= 8 {
            let eight = EightBytes(of: self, at: index)
            let marks =
                eight.equal(to: UInt8(ascii: "\"")) | eight.equal(to: UInt8(ascii: "\\")) | eight.controls | eight.nonASCII
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] < 0x80, self[index] == 0x7f || !self[index].needsEscape { index += 1 }
        return index
    }

    /// The first index from `start` on whose byte must be escaped in a string; the count when there is none.
    @inline(__always)
    func endOfUnescapedText(from start: Int) -> Int {
        var index = start
        while count - index >= 8 {
            let eight = EightBytes(of: self, at: index)
            let marks =
                eight.equal(to: UInt8(ascii: "\"")) | eight.equal(to: UInt8(ascii: "\\")) | eight.controls
                | eight.equal(to: 0x7f)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, !self[index].needsEscape { index += 1 }
        return index
    }
}

extension UInt8 {
    /// Whether the writer escapes this byte.
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") || self == 0x7f
    }
}
