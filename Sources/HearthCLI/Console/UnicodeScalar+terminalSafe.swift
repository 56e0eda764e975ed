extension Unicode.Scalar {
    /// The character, escaped in Swift's notation if it is a control, formatting or line-breaking character.
    var terminalSafe: String {
        needsEscaping ? escaped(asASCII: true) : String(self)
    }

    private var needsEscaping: Bool {
        // The fast path.
        if (" "..."~").contains(self) { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
