import SecurityRules

/// The text of a rules file, split into lines as the compiler counts them.
struct RulesSource: Sendable {
    let text: String
    /// The Unicode scalars, which positions count.
    private let scalars: [Unicode.Scalar]

    private static let byteOrderMark: Unicode.Scalar = "\u{FEFF}"

    init(_ text: String) {
        self.text = text
        scalars = Array(
            text.unicodeScalars.first == Self.byteOrderMark ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        )
    }

    /// The lines, without their line breaks and without an empty last one.
    var lines: [ArraySlice<Unicode.Scalar>] {
        var lines = scalars.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { $0.last == "\r" ? $0.dropLast() : $0 }
    }

    /// Returns whether an expression is a variable or a member of one, such as `request.auth.uid`.
    func isMemberAccess(at position: SourcePosition) -> Bool {
        scalars.dropFirst(position.offset).prefix(position.endOffset - position.offset + 1).allSatisfy { scalar in
            scalar == "." || scalar == "_" || scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
    }

    /// Returns the beginning of an expression, on one line.
    func excerpt(at position: SourcePosition, toScalars limit: Int) -> DisplayText {
        guard position.offset < scalars.count else { return DisplayText("") }
        let end = min(position.endOffset + 1, scalars.count, position.offset + 8 * limit)
        var view = String.UnicodeScalarView()
        var isAfterSpace = false
        for scalar in scalars[position.offset..<max(end, position.offset)] {
            let isSpace = [" ", "\n", "\t", "\r"].contains(scalar)
            if !isSpace { view.append(scalar) } else if !isAfterSpace { view.append(" ") }
            isAfterSpace = isSpace
        }
        return DisplayText(truncating: String(view), toScalars: limit)
    }
}
