import DocumentModel

/// A colour with its notation written on it.
struct ColorChip: Sendable {
    /// The notation as it was stored.
    let text: String
    let color: HexColor

    /// Reads a colour; nil for a string that is none.
    init?(_ string: String) {
        guard let color = HexColor(string) else { return nil }
        text = string
        self.color = color
    }

    /// The class that gives the chip its colours.
    var className: String { "c-\(color.digits)" }
}

extension ColorChip: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "text": text
        case "class": className
        case "isTranslucent": !color.isOpaque
        default: nil
        }
    }
}
