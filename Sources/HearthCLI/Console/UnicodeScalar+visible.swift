extension Unicode.Scalar {
    /// The character itself, or as Swift escapes it where it would end the line, move a terminal's cursor or turn the
    /// direction of the text.
    var visible: String {
        isInvisible ? escaped(asASCII: true) : String(self)
    }

    private var isInvisible: Bool {
        // Most of a text, and quickly told.
        if (" "..."~").contains(self) { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
