internal import UTF8Text

/// A token of a rules file.
struct Token: Sendable {
    enum Kind: Equatable, Sendable {
        /// A name or keyword.
        case word(String)
        /// An integer literal without its sign; at most 2^63.
        case integer(UInt64)
        case float(Double)
        case string(UTF8Key)
        case bytes([UInt8])
        /// An operator or a punctuation mark.
        case symbol(Symbol)
        /// A slash that starts a path, since no blank follows it.
        case pathStart
        /// Text that is no token, with the error message.
        case invalid(String)
        case endOfFile
    }

    var kind: Kind
    var range: SourceRange
}

/// An operator or a punctuation mark.
enum Symbol: String, Sendable, CaseIterable {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case semicolon = ";"
    case colon = ":"
    case question = "?"
    case dot = "."
    case assign = "="
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case slash = "/"
    case percent = "%"
}

extension Symbol {
    /// Creates the symbol of one or two bytes; the second is 0 for one.
    init?(_ first: UInt8, _ second: UInt8) {
        guard let symbol = Self.byBytes[UInt16(first) << 8 | UInt16(second)] else { return nil }
        self = symbol
    }

    private static let byBytes: [UInt16: Symbol] = Dictionary(
        uniqueKeysWithValues: allCases.map { symbol in
            let bytes = Array(symbol.rawValue.utf8)
            return (UInt16(bytes[0]) << 8 | (bytes.count > 1 ? UInt16(bytes[1]) : 0), symbol)
        }
    )
}

/// The words that cannot be identifiers.
enum Keyword {
    static let all: Set<String> = ["true", "false", "null", "in", "is", "if", "return", "let"]
}
