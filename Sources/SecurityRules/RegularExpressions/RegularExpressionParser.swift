internal import UTF8Text

/// A parser of regular expressions in RE2's syntax.
struct RegularExpressionParser: Sendable {
    typealias SyntaxError = RegularExpression.SyntaxError

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var flags = Flags()
    private var nesting = 0

    /// Groups nested deeper are refused, since the parser and the compiler are recursive.
    private static let maximumNesting = 100
    private static let maximumRepetitions = 1_000
    /// A longer pattern would make a program that is refused.
    private static let maximumScalars = 20_000

    private struct Flags {
        var foldsCase = false
        var isMultiline = false
        var dotMatchesLineFeed = false
        var isUngreedy = false
    }

    /// Parses a pattern.
    static func parse(_ pattern: String) throws(SyntaxError) -> RegularExpressionSyntax {
        guard pattern.unicodeScalars.count <= maximumScalars else { throw SyntaxError(message: "expression too large") }
        var parser = RegularExpressionParser(pattern)
        let syntax = try parser.parseAlternation()
        guard parser.position == parser.scalars.count else { throw SyntaxError(message: "unexpected )") }
        return syntax
    }

    private init(_ pattern: String) {
        scalars = Array(pattern.unicodeScalars)
    }
}

// The cursor.
extension RegularExpressionParser {
    private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private func starts(with text: String) -> Bool {
        scalars[position...].starts(with: text.unicodeScalars)
    }

    private mutating func skip(_ text: String) -> Bool {
        guard starts(with: text) else { return false }
        position += text.unicodeScalars.count
        return true
    }

    private mutating func pop() -> Unicode.Scalar? {
        guard let scalar = current else { return nil }
        position += 1
        return scalar
    }

    /// Reads up to a delimiter and skips it, or returns `nil` if there is none.
    private mutating func read(upTo delimiter: Unicode.Scalar) -> String? {
        guard let end = scalars[position...].firstIndex(of: delimiter) else { return nil }
        defer { position = end + 1 }
        return String(String.UnicodeScalarView(scalars[position..<end]))
    }

    private func text(from start: Int) -> String {
        Excerpt(String(String.UnicodeScalarView(scalars[start..<min(position, scalars.count)]))).text
    }
}

extension RegularExpressionParser {
    private mutating func parseAlternation() throws(SyntaxError) -> RegularExpressionSyntax {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= Self.maximumNesting else { throw SyntaxError(message: "expression nests too deeply") }
        var alternatives = [try parseConcatenation()]
        while skip("|") { alternatives.append(try parseConcatenation()) }
        return alternatives.count == 1 ? alternatives[0] : .alternation(alternatives)
    }

    private mutating func parseConcatenation() throws(SyntaxError) -> RegularExpressionSyntax {
        var parts: [RegularExpressionSyntax] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            if skip("\\Q") {
                appendQuoted(to: &parts)
                if let quoted = parts.popLast() { parts.append(try parseRepetition(of: quoted)) }
                continue
            }
            guard let atom = try parseAtom() else { continue }
            parts.append(try parseRepetition(of: atom))
        }
        return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .concatenation(parts)
    }

    /// Appends the literal text up to `\E`.
    private mutating func appendQuoted(to parts: inout [RegularExpressionSyntax]) {
        while current != nil, !skip("\\E") {
            if let scalar = pop() { parts.append(literal(scalar)) }
        }
    }

    /// Parses an atom, or a change of flags, which is none.
    private mutating func parseAtom() throws(SyntaxError) -> RegularExpressionSyntax? {
        let start = position
        guard let scalar = pop() else { return .empty }
        switch scalar {
        case "(": return try parseGroup(from: start)
        case "[": return .scalars(try parseClass(from: start))
        case ".": return .scalars(.any(includingLineFeed: flags.dotMatchesLineFeed))
        case "^": return .assertion(flags.isMultiline ? .startOfLine : .startOfText)
        case "$": return .assertion(flags.isMultiline ? .endOfLine : .endOfText)
        case "*", "+", "?": throw SyntaxError(message: "no argument for repetition operator: \(scalar)")
        case "\\": return try parseEscape(from: start)
        case "{":
            position = start
            if try parseCounts() != nil {
                throw SyntaxError(message: "no argument for repetition operator: \(text(from: start))")
            }
            position = start + 1
            return literal(scalar)
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> RegularExpressionSyntax {
        .scalars(ScalarClass([scalar.value...scalar.value], foldsCase: flags.foldsCase))
    }

    /// Parses the repetition operator after an atom, if there is one. A second one is an error.
    private mutating func parseRepetition(of atom: RegularExpressionSyntax) throws(SyntaxError) -> RegularExpressionSyntax {
        let start = position
        guard let (minimum, maximum) = try parseOperator() else { return atom }
        let isReversed = skip("?")
        let end = position
        if try parseOperator() != nil {
            throw SyntaxError(message: "bad repetition operator: \(text(from: start))")
        }
        position = end
        return .repetition(atom, minimum: minimum, maximum: maximum, isGreedy: isReversed == flags.isUngreedy)
    }

    private mutating func parseOperator() throws(SyntaxError) -> (minimum: Int, maximum: Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        return try parseCounts()
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`. Anything else is literal text.
    private mutating func parseCounts() throws(SyntaxError) -> (minimum: Int, maximum: Int?)? {
        let start = position
        guard skip("{"), let minimum = parseNumber() else {
            position = start
            return nil
        }
        var maximum: Int? = minimum
        if skip(",") { maximum = parseNumber() }
        guard skip("}") else {
            position = start
            return nil
        }
        guard max(minimum, maximum ?? 0) <= Self.maximumRepetitions, maximum.map({ $0 >= minimum }) ?? true else {
            throw SyntaxError(message: "bad repetition operator: \(text(from: start))")
        }
        return (minimum, maximum)
    }

    /// Parses digits; saturates far above the maximum number of repetitions.
    private mutating func parseNumber() -> Int? {
        let start = position
        var number = 0
        while let digit = current.flatMap(\.decimalDigit) {
            number = min(number * 10 + digit, 1_000_000)
            position += 1
        }
        // A number has no leading zero.
        let isValid = position > start && (scalars[start] != "0" || position == start + 1)
        return isValid ? number : nil
    }
}

// Groups and flags.
extension RegularExpressionParser {
    private mutating func parseGroup(from start: Int) throws(SyntaxError) -> RegularExpressionSyntax? {
        let outer = flags
        if skip("?") {
            if skip("P<") || skip("<") {
                try parseGroupName(from: start)
            } else if try !parseFlags(from: start) {
                return nil
            }
        }
        let body = try parseAlternation()
        guard skip(")") else { throw SyntaxError(message: "missing )") }
        flags = outer
        return body
    }

    private mutating func parseGroupName(from start: Int) throws(SyntaxError) {
        guard let name = read(upTo: ">"), !name.isEmpty,
            name.unicodeScalars.allSatisfy({ $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil })
        else { throw SyntaxError(message: "invalid named capture group") }
    }

    /// Parses flags and the colon or parenthesis after them, and returns whether a group follows.
    private mutating func parseFlags(from start: Int) throws(SyntaxError) -> Bool {
        var changed = flags
        var isSet = true
        var hasFlag = false
        while let scalar = pop() {
            switch scalar {
            case "i": changed.foldsCase = isSet
            case "m": changed.isMultiline = isSet
            case "s": changed.dotMatchesLineFeed = isSet
            case "U": changed.isUngreedy = isSet
            case "-" where isSet:
                isSet = false
                hasFlag = false
                continue
            case ":" where isSet || hasFlag, ")" where isSet || hasFlag:
                flags = changed
                return scalar == ":"
            default:
                throw SyntaxError(message: "invalid or unsupported Perl syntax: \(text(from: start))")
            }
            hasFlag = true
        }
        throw SyntaxError(message: "missing )")
    }
}

// Escapes.
extension RegularExpressionParser {
    private mutating func parseEscape(from start: Int) throws(SyntaxError) -> RegularExpressionSyntax {
        switch current {
        case nil: throw SyntaxError(message: "trailing \\")
        case "A": return assertion(.startOfText)
        case "z": return assertion(.endOfText)
        case "b": return assertion(.wordBoundary)
        case "B": return assertion(.notWordBoundary)
        default: break
        }
        if let scalars = try parseClassEscape(from: start) { return .scalars(scalars) }
        return literal(try parseScalarEscape(from: start))
    }

    private mutating func assertion(_ assertion: RegularExpressionSyntax.Assertion) -> RegularExpressionSyntax {
        position += 1
        return .assertion(assertion)
    }

    /// Parses the rest of `\d`, `\pN`, `\P{Greek}` and their like; returns `nil` for any other escape.
    private mutating func parseClassEscape(from start: Int) throws(SyntaxError) -> ScalarClass? {
        guard let scalar = current else { return nil }
        var result = ScalarClass()
        result.foldsCase = flags.foldsCase
        if scalar.isASCII, let ranges = PerlClass.ranges(Unicode.Scalar(UInt8(scalar.value | 0x20))) {
            position += 1
            result.ranges = ranges
            result.isNegated = scalar.value & 0x20 == 0
            return result
        }
        guard scalar == "p" || scalar == "P" else { return nil }
        position += 1
        result.isNegated = scalar == "P"
        var name = pop().map { String($0) }
        if name == "{" {
            name = read(upTo: "}")
            if let inner = name, inner.hasPrefix("^") {
                result.isNegated.toggle()
                name = String(inner.dropFirst())
            }
        }
        if name == "Any" {
            result.insert(0...ScalarClass.maximum)
        } else if let mask = name.flatMap(GeneralCategory.mask) {
            result.insert(categories: mask)
        } else if let ranges = name.flatMap(UnicodeScript.ranges) {
            result.ranges = ranges
        } else {
            throw SyntaxError(message: "invalid character class range: \(text(from: start))")
        }
        return result
    }

    /// Parses the rest of an escape that stands for one scalar.
    private mutating func parseScalarEscape(from start: Int) throws(SyntaxError) -> Unicode.Scalar {
        guard let scalar = pop() else { throw SyntaxError(message: "trailing \\") }
        switch scalar {
        case "a": return "\u{7}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{b}"
        case "x":
            if let value = parseHexadecimal(), let scalar = Unicode.Scalar(value) { return scalar }
        case "0"..."7":
            // A single digit other than 0 would be a back-reference.
            if scalar == "0" || current?.octalDigit != nil, let value = parseOctal(after: scalar) { return value }
        default:
            if scalar.isASCII, !scalar.properties.isAlphabetic, scalar.decimalDigit == nil { return scalar }
        }
        throw SyntaxError(message: "invalid escape sequence: \(text(from: start))")
    }

    private mutating func parseOctal(after first: Unicode.Scalar) -> Unicode.Scalar? {
        var value = UInt32(first.octalDigit ?? 0)
        for _ in 0..<2 {
            guard let digit = current?.octalDigit else { break }
            value = value * 8 + UInt32(digit)
            position += 1
        }
        return Unicode.Scalar(value)
    }

    /// Parses `HH` or `{H…}`.
    private mutating func parseHexadecimal() -> UInt32? {
        if skip("{") {
            guard let digits = read(upTo: "}"), (1...6).contains(digits.utf8.count),
                digits.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil })
            else { return nil }
            return UInt32(digits, radix: 16)
        }
        guard position + 2 <= scalars.count else { return nil }
        let digits = scalars[position..<position + 2].compactMap { $0.isASCII ? Hexadecimal.value(of: UInt8($0.value)) : nil }
        guard digits.count == 2 else { return nil }
        position += 2
        return UInt32(digits[0]) << 4 | UInt32(digits[1])
    }
}

// Classes in brackets.
extension RegularExpressionParser {
    private mutating func parseClass(from start: Int) throws(SyntaxError) -> ScalarClass {
        var result = ScalarClass()
        result.foldsCase = flags.foldsCase
        result.isNegated = skip("^")
        var isFirst = true
        while isFirst || current != "]" {
            guard current != nil else { throw SyntaxError(message: "missing ]: \(text(from: start))") }
            isFirst = false
            try parseClassItem(into: &result)
        }
        position += 1
        result.normalize()
        return result
    }

    private mutating func parseClassItem(into result: inout ScalarClass) throws(SyntaxError) {
        let start = position
        if starts(with: "[:"), try parsePOSIXClass(into: &result) { return }
        if skip("\\") {
            if let inner = try parseClassEscape(from: start) {
                result.formUnion(inner)
                return
            }
            position = start
        }
        let lower = try parseClassScalar()
        var upper = lower
        if current == "-", position + 1 < scalars.count, scalars[position + 1] != "]" {
            position += 1
            upper = try parseClassScalar()
        }
        guard lower <= upper else { throw SyntaxError(message: "invalid character class range: \(text(from: start))") }
        result.insert(lower.value...upper.value)
    }

    private mutating func parseClassScalar() throws(SyntaxError) -> Unicode.Scalar {
        let start = position
        guard let scalar = pop() else { throw SyntaxError(message: "missing ]") }
        return scalar == "\\" ? try parseScalarEscape(from: start) : scalar
    }

    /// Parses `[:name:]` or `[:^name:]`, and returns false if there is no `:]`.
    private mutating func parsePOSIXClass(into result: inout ScalarClass) throws(SyntaxError) -> Bool {
        let start = position
        guard
            let end = scalars[(position + 2)...].indices.first(where: { index in
                scalars[index] == ":" && index + 1 < scalars.count && scalars[index + 1] == "]"
            })
        else { return false }
        var name = String(String.UnicodeScalarView(scalars[(position + 2)..<end]))
        position = end + 2
        let isNegated = name.hasPrefix("^")
        if isNegated { name.removeFirst() }
        guard let ranges = POSIXClass.ranges(name) else {
            throw SyntaxError(message: "invalid character class range: \(text(from: start))")
        }
        var inner = ScalarClass(ranges, foldsCase: flags.foldsCase)
        inner.isNegated = isNegated
        result.formUnion(inner)
        return true
    }
}

extension Unicode.Scalar {
    fileprivate var octalDigit: Int? { decimalDigit.flatMap { $0 < 8 ? $0 : nil } }

    /// The value of a decimal digit in ASCII.
    fileprivate var decimalDigit: Int? {
        ("0"..."9").contains(self) ? Int(value - Unicode.Scalar("0").value) : nil
    }
}
