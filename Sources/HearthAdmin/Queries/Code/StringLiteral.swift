import DocumentModel
import UTF8Text

/// String literals of programming languages.
enum StringLiteral {
    /// Returns a literal for Swift or JavaScript, with escapes such as `\u{200b}` for invisible characters.
    static func braced(_ text: String) -> String {
        literal(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// Returns a literal for Python, with escapes such as `\u200b` for invisible characters.
    static func python(_ text: String) -> String {
        literal(text) { scalar in
            let digits = String(scalar.value, radix: 16)
            let (prefix, length) = scalar.value > 0xffff ? ("\\U", 8) : ("\\u", 4)
            return prefix + String(repeating: "0", count: length - digits.utf8.count) + digits
        }
    }

    private static func literal(_ text: String, escaping escape: (Unicode.Scalar) -> String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": literal += "\\\""
            case "\\": literal += "\\\\"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where isInvisible(scalar): literal += escape(scalar)
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        case .spaceSeparator: scalar != " "
        default: false
        }
    }
}

extension FieldPath {
    /// The names separated by dots, as the clients for Swift and JavaScript parse them; `nil` for names that they don't parse.
    var dotted: String? {
        let special = Array("~*/[].".utf8)
        guard segments.allSatisfy({ name in !name.utf8.isEmpty && !name.utf8.contains { special.contains($0) } }) else {
            return nil
        }
        return segments.map(\.string).joined(separator: ".")
    }
}

extension Timestamp {
    /// The seconds since 1970, rounded down, and the nanoseconds within the second.
    var parts: (seconds: Int64, nanoseconds: Int64) {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? (quotient - 1, (remainder + 1_000_000) * 1_000) : (quotient, remainder * 1_000)
    }
}

extension String {
    /// Returns whether source code contains a text.
    func mentions(_ text: String) -> Bool {
        let text = Array(text.utf8)
        return utf8.indices.contains { utf8[$0...].starts(with: text) }
    }
}
