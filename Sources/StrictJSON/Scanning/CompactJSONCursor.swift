/// A position in a compact JSON text, which has no whitespace and was validated before: for transcoding it byte by byte, without a tape.
///
/// Reading anything else ends in an error or in other values, never outside the text.
package struct CompactJSONCursor {
    private let text: UnsafeBufferPointer<UInt8>
    /// The offset of the next byte.
    package private(set) var position = 0

    /// The number of arrays and objects around the next byte.
    private var depth = 0

    /// The error for a text that is not compact JSON.
    package struct InvalidText: Error, CustomStringConvertible {
        /// The offset of the fault, in bytes.
        let position: Int

        package var description: String { "Invalid JSON at byte \(position)." }
    }

    /// The maximum number of arrays and objects around a value, so that recursion ends in any text.
    private static let maximumDepth = 64

    /// Creates a cursor at the start of a text.
    package init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
    }

    /// The error at the current position.
    package var failure: InvalidText { InvalidText(position: position) }

    /// The next byte; 0, which is invalid in JSON, at the end.
    package var next: UInt8 { position < text.count ? text[position] : 0 }

    /// True at the end of the text.
    package var isAtEnd: Bool { position == text.count }

    /// Returns the bytes from an earlier position to the current one.
    package func bytes(from start: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[start..<position])
    }

    /// Skips the next byte if it is `byte`, and returns whether it was.
    package mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Returns whether the next bytes are those of `prefix`.
    package func starts(with prefix: StaticString) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard text.count - position >= count else { return false }
        for offset in 0..<count where text[position + offset] != prefix.utf8Start[offset] { return false }
        return true
    }

    /// Skips the next bytes if they are those of `prefix`, and returns whether they were.
    package mutating func skip(_ prefix: StaticString) -> Bool {
        guard starts(with: prefix) else { return false }
        position += prefix.utf8CodeUnitCount
        return true
    }

    /// Skips the next byte, which must be `byte`.
    package mutating func expect(_ byte: UInt8) throws(InvalidText) {
        guard skip(byte) else { throw failure }
    }

    /// Skips the opening bracket of an array or object, which must be the next byte.
    package mutating func open(_ bracket: UInt8) throws(InvalidText) {
        guard depth < Self.maximumDepth else { throw failure }
        try expect(bracket)
        depth += 1
    }

    /// Skips the closing bracket of the current array or object if it is the next byte, and returns whether it was.
    package mutating func closes(_ bracket: UInt8) -> Bool {
        guard skip(bracket) else { return false }
        depth -= 1
        return true
    }

    /// Skips the closing bracket of the current array or object, which must be the next byte.
    package mutating func close(_ bracket: UInt8) throws(InvalidText) {
        guard closes(bracket) else { throw failure }
    }

    /// Reads a string, and returns the bytes between its quotes.
    package mutating func string() throws(InvalidText) -> (bytes: UnsafeBufferPointer<UInt8>, hasEscapes: Bool) {
        try expect(UInt8(ascii: "\""))
        let start = position
        var hasEscapes = false
        while true {
            position = text.endOfUnescapedText(from: position)
            guard position < text.count else { throw failure }
            let byte = text[position]
            position += 1
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\") else { continue }
            // An escaped character, such as a quotation mark, does not end the string.
            hasEscapes = true
            position = min(position + 1, text.count)
        }
        return (UnsafeBufferPointer(rebasing: text[start..<position - 1]), hasEscapes)
    }

    /// Skips a number, and returns whether it has a fraction or an exponent.
    package mutating func skipNumber() throws(InvalidText) -> Bool {
        _ = skip(UInt8(ascii: "-"))
        try skipDigits()
        var isDouble = false
        if skip(UInt8(ascii: ".")) {
            isDouble = true
            try skipDigits()
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isDouble = true
            if !skip(UInt8(ascii: "-")) { _ = skip(UInt8(ascii: "+")) }
            try skipDigits()
        }
        return isDouble
    }

    /// Reads a number.
    package mutating func number() throws(InvalidText) -> JSONNumber {
        let start = position
        let isDouble = try skipNumber()
        let literal = bytes(from: start)
        return isDouble ? JSONNumber(doubleLiteral: literal) : JSONNumber(integerLiteral: literal)
    }

    private mutating func skipDigits() throws(InvalidText) {
        guard next.isDigit else { throw failure }
        repeat { position += 1 } while next.isDigit
    }

    /// Skips an array or object.
    package mutating func skipContainer() throws(InvalidText) {
        var depth = 0
        repeat {
            switch next {
            case 0: throw failure
            case UInt8(ascii: "\""):
                _ = try string()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
        } while depth > 0
    }
}
