/// An invisible character, or one that reorders the text around it, with the label that pages show for it.
///
/// An ID with a right-to-left override or a zero-width space looks like another ID. Pages show such characters as labels, so the
/// displayed text corresponds to the stored one.
struct InvisibleCharacter: Hashable, Sendable {
    /// The character.
    let scalar: Unicode.Scalar
    /// A short label: `RLO`, `ZWSP`, or `U+0085` when there is no common abbreviation.
    let label: String
    /// The code point and its Unicode name, for a tooltip.
    let name: String

    /// Classifies a scalar; returns `nil` for a character shown as it is.
    ///
    /// Spaces are labeled only at the start and end of the text, where they are invisible. Joiners and selectors that shape the
    /// surrounding text, as in Persian words and emoji sequences, are not labeled.
    init?(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?) {
        let isEdge = previous == nil || next == nil
        guard Self.isInvisible(scalar) || (isEdge && scalar.properties.generalCategory == .spaceSeparator),
            !Self.isShaping(scalar, after: previous, before: next)
        else { return nil }
        self.scalar = scalar
        let point = "U+" + Self.hexadecimal(scalar.value)
        if let known = Self.names[scalar.value] {
            label = known.label
            name = "\(point) \(known.name)"
        } else {
            label = point
            name = point
        }
    }
}

extension InvisibleCharacter {
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7f: false
        // Control characters, line separators, annotation controls.
        case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029, 0xfff9...0xfffb: true
        // Bidirectional controls, joiners, fillers, variation selectors, tags.
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Returns whether an invisible scalar shapes the surrounding text, so that hiding it would alter the text.
    private static func isShaping(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool
    {
        guard let previous else { return false }
        switch scalar.value {
        // The variation selector of a keycap emoji.
        case 0xfe0f where previous.isASCII:
            return next?.value == 0x20e3
        case _ where previous.isASCII:
            return false
        // Variation selectors after an emoji or an ideograph.
        case 0xfe00...0xfe0f, 0xe0100...0xe01ef, 0x180b...0x180d, 0x180f:
            return !isInvisible(previous)
        case 0x200c, 0x200d:
            guard let next else { return false }
            // In an emoji sequence, a variation selector may precede the joiner.
            return !next.isASCII && (!isInvisible(previous) || previous.value == 0xfe0f) && !isInvisible(next)
        // Tag characters of a subdivision flag, such as Scotland's.
        case 0xe0020...0xe007f:
            return previous.value == 0x1f3f4 || (0xe0020...0xe007e).contains(previous.value)
        default:
            return false
        }
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    private static let names: [UInt32: (label: String, name: String)] = [
        0x00: ("NUL", "NULL"),
        0x09: ("TAB", "CHARACTER TABULATION"),
        0x0a: ("LF", "LINE FEED"),
        0x0d: ("CR", "CARRIAGE RETURN"),
        0x1b: ("ESC", "ESCAPE"),
        0x20: ("SP", "SPACE"),
        0x7f: ("DEL", "DELETE"),
        0x85: ("NEL", "NEXT LINE"),
        0xa0: ("NBSP", "NO-BREAK SPACE"),
        0xad: ("SHY", "SOFT HYPHEN"),
        0x034f: ("CGJ", "COMBINING GRAPHEME JOINER"),
        0x061c: ("ALM", "ARABIC LETTER MARK"),
        0x180e: ("MVS", "MONGOLIAN VOWEL SEPARATOR"),
        0x200b: ("ZWSP", "ZERO WIDTH SPACE"),
        0x200c: ("ZWNJ", "ZERO WIDTH NON-JOINER"),
        0x200d: ("ZWJ", "ZERO WIDTH JOINER"),
        0x200e: ("LRM", "LEFT-TO-RIGHT MARK"),
        0x200f: ("RLM", "RIGHT-TO-LEFT MARK"),
        0x2028: ("LS", "LINE SEPARATOR"),
        0x2029: ("PS", "PARAGRAPH SEPARATOR"),
        0x202a: ("LRE", "LEFT-TO-RIGHT EMBEDDING"),
        0x202b: ("RLE", "RIGHT-TO-LEFT EMBEDDING"),
        0x202c: ("PDF", "POP DIRECTIONAL FORMATTING"),
        0x202d: ("LRO", "LEFT-TO-RIGHT OVERRIDE"),
        0x202e: ("RLO", "RIGHT-TO-LEFT OVERRIDE"),
        0x2060: ("WJ", "WORD JOINER"),
        0x2066: ("LRI", "LEFT-TO-RIGHT ISOLATE"),
        0x2067: ("RLI", "RIGHT-TO-LEFT ISOLATE"),
        0x2068: ("FSI", "FIRST STRONG ISOLATE"),
        0x2069: ("PDI", "POP DIRECTIONAL ISOLATE"),
        0x3164: ("HF", "HANGUL FILLER"),
        0xfeff: ("BOM", "ZERO WIDTH NO-BREAK SPACE"),
    ]
}
