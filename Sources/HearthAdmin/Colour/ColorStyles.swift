import DocumentModel

/// The style rules of the colours on a page: the Content-Security-Policy forbids style attributes, a style element
/// that carries the request's nonce is allowed.
struct ColorStyles: Sendable {
    private var colors: Set<HexColor> = []

    /// Adds the rule for a colour.
    mutating func insert(_ color: HexColor) {
        colors.insert(color)
    }

    /// Whether the page needs no rules.
    var isEmpty: Bool { colors.isEmpty }

    /// The rules as a style sheet has them.
    var css: String { rules.joined(separator: "\n") }

    /// The rules, in order of the colours. They are built from numbers, so that no stored text gets into the style sheet.
    ///
    /// A translucent colour stands beside its notation on a chequered ground; the notation itself stands on the
    /// colour mixed with white, where its contrast is known.
    var rules: [String] {
        colors.map { (digits: $0.digits, color: $0) }
            .sorted { $0.digits < $1.digits }
            .map { digits, color in
                let ground = color.onWhite
                return ".c-\(digits){background-color:#\(ground.digits);color:#\(ground.textColor.digits);--swatch:#\(digits)}"
            }
    }
}
