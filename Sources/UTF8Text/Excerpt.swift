/// An escaped and truncated excerpt of untrusted text, safe for messages, logs and terminals.
///
/// Control, bidirectional and invisible characters, combining marks without a base, quotation marks and backslashes are
/// escaped in Swift's syntax (`\u{202E}`). The ``description`` is quoted, and ends with `…` if the text was truncated.
package struct Excerpt: Sendable, CustomStringConvertible {
    /// The escaped text, without quotation marks.
    package let text: String
    /// The text in quotation marks.
    package let description: String

    /// Creates an excerpt of at most `maximumBytes` bytes of escaped text.
    package init(_ source: some StringProtocol, maximumBytes: Int = 80) {
        var text = ""
        var isTruncated = false
        var marksCanCombine = false
        for scalar in source.unicodeScalars {
            let category = Category(scalar)
            let escaped = Self.escaped(scalar, category, marksCanCombine: marksCanCombine)
            guard text.utf8.count + escaped.utf8.count <= maximumBytes else {
                isTruncated = true
                break
            }
            text.unicodeScalars.append(contentsOf: escaped.unicodeScalars)
            marksCanCombine = category == .letter || (category == .mark && marksCanCombine)
        }
        self.text = isTruncated ? text + "…" : text
        description = "\"" + self.text + "\""
    }

    private enum Category {
        case letter
        case mark
        case visible
        case invisible

        init(_ scalar: Unicode.Scalar) {
            self =
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: .invisible
                case .spaceSeparator: scalar == " " ? .visible : .invisible
                case .nonspacingMark, .enclosingMark, .spacingMark: .mark
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: .letter
                default: .visible
                }
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar, _ category: Category, marksCanCombine: Bool) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        case "\"": return "\\\""
        case "\\": return "\\\\"
        default: break
        }
        let isPlain = category == .letter || category == .visible || (category == .mark && marksCanCombine)
        return isPlain ? String(scalar) : "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
}
