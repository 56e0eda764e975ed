import DocumentModel

/// A color swatch labeled with its hexadecimal notation.
struct ColorChip: Sendable {
    /// The stored string.
    let text: String
    let color: HexColor

    /// Parses a color; returns `nil` for any other string.
    init?(_ string: String) {
        guard let color = HexColor(string) else { return nil }
        text = string
        self.color = color
    }

    /// The CSS class whose rule ``ColorStyleSheet`` generates.
    var className: String { "c-\(color.digits)" }
}
