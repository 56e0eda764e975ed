/// Eight bytes tested in parallel (SWAR, SIMD within a register).
///
/// Each test sets the top bit of every matching byte. The subtractions can carry into a following byte and mark it
/// falsely, but never a byte before the first true mark, and only the first mark is used.
private struct SWARWord {
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
    /// Returns the index of the first quote, backslash, control or non-ASCII byte at or after `start`, or `count` if there
    /// is none.
    @inline(__always)
    func endOfPlainASCII(from start: Int) -> Int {
        var index = start
        while count - index >= 8 {
            let word = SWARWord(of: self, at: index)
            let marks =
                word.equal(to: UInt8(ascii: "\"")) | word.equal(to: UInt8(ascii: "\\")) | word.controls | word.nonASCII
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, self[index] < 0x80, self[index] == 0x7f || !self[index].needsEscape { index += 1 }
        return index
    }

    /// Returns the index of the first byte at or after `start` that must be escaped in a string, or `count` if there is none.
    @inline(__always)
    func endOfUnescapedText(from start: Int) -> Int {
        var index = start
        while count - index >= 8 {
            let word = SWARWord(of: self, at: index)
            let marks =
                word.equal(to: UInt8(ascii: "\"")) | word.equal(to: UInt8(ascii: "\\")) | word.controls
                | word.equal(to: 0x7f)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, !self[index].needsEscape { index += 1 }
        return index
    }
}

extension UInt8 {
    /// True if the writer escapes the byte.
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") || self == 0x7f
    }
}
