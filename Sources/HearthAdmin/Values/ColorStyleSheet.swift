import DocumentModel

/// The CSS rules of the colors on a page.
///
/// The Content-Security-Policy forbids style attributes but allows a style element with the response's nonce.
struct ColorStyleSheet: Sendable {
    private var colors: Set<HexColor> = []

    /// Adds the rule for a color.
    mutating func insert(_ color: HexColor) {
        colors.insert(color)
    }

    /// True if there are no rules.
    var isEmpty: Bool { colors.isEmpty }

    /// The text of the style sheet.
    var css: String { rules.joined(separator: "\n") }

    /// The rules, sorted by color. They are built from numbers, so no stored text enters the style sheet.
    ///
    /// A translucent color is shown beside its notation on a checkered background. The notation itself has the color blended
    /// with white as its background, for which the contrast is known.
    var rules: [String] {
        colors.map { (digits: $0.digits, color: $0) }
            .sorted { $0.digits < $1.digits }
            .map { digits, color in
                let background = color.compositedOverWhite
                return
                    ".c-\(digits){background-color:#\(background.digits);color:#\(background.textColor.digits);--swatch:#\(digits)}"
            }
    }
}
