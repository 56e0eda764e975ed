internal import UTF8Text

/// The text of a rules file, with its line starts for locating issues.
///
/// A byte order mark at the start is no part of it: neither columns nor offsets count the mark.
struct SourceText: Sendable {
    /// The UTF-8 bytes.
    let bytes: [UInt8]
    /// The byte offset and the scalar offset of each line's start.
    private let lines: [(byte: Int, scalar: Int)]

    init(_ text: String) {
        bytes = Array(text.utf8.starts(with: Self.byteOrderMark) ? text.utf8.dropFirst(Self.byteOrderMark.count) : text.utf8[...])
        var lines = [(byte: 0, scalar: 0)]
        var scalar = 0
        for (offset, byte) in bytes.enumerated() where byte & 0b1100_0000 != 0b1000_0000 {
            scalar += 1
            if byte == UInt8(ascii: "\n") { lines.append((offset + 1, scalar)) }
        }
        self.lines = lines
    }

    private static let byteOrderMark = [0xef, 0xbb, 0xbf] as [UInt8]

    /// The whole text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text of a range.
    subscript(range: SourceRange) -> String {
        String(decoding: bytes[range.start..<range.end], as: UTF8.self)
    }

    /// Returns the position of a range, as tools show it.
    func position(of range: SourceRange) -> SourcePosition {
        var (low, high) = (0, lines.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lines[middle].byte <= range.start { low = middle } else { high = middle }
        }
        let column = scalarCount(lines[low].byte..<range.start)
        let offset = lines[low].scalar + column
        let length = scalarCount(range.start..<max(range.start, range.end))
        return SourcePosition(line: low + 1, column: column + 1, offset: offset, endOffset: offset + max(length, 1) - 1)
    }

    private func scalarCount(_ range: Range<Int>) -> Int {
        bytes[range].count { $0 & 0b1100_0000 != 0b1000_0000 }
    }
}

/// A range of a rules file in bytes.
struct SourceRange: Hashable, Sendable {
    var start: Int
    var end: Int

    init(_ start: Int, _ end: Int) {
        self.start = start
        self.end = end
    }
}

/// A position in a rules file, in Unicode scalars.
package struct SourcePosition: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// The column, from 1.
    package let column: Int
    /// The offset of the first scalar, from 0.
    package let offset: Int
    /// The offset of the last scalar, inclusive.
    package let endOffset: Int

    /// The line and column, as `4:20`.
    package var description: String { "\(line):\(column)" }
}
