/// What a page shows in place of a character that can't be seen, or that changes the order of those around it.
///
/// An ID that holds a right-to-left override or a zero-width space looks like another one. Pages show such
/// characters as labelled marks, so that what is seen is what is stored.
struct InvisibleMark: Hashable, Sendable {
    /// The character.
    let scalar: Unicode.Scalar
    /// A short label: `RLO`, `ZWSP`, or `U+0085` where there is no common one.
    let label: String
    /// The code point and its name, for a tooltip.
    let name: String

    /// The mark of a scalar; nil when it is an ordinary character.
    ///
    /// Spaces are ordinary between other characters, and marked at the edges, where nobody sees them.
    /// Joiners that shape the text around them, as in Persian words and in families of emoji, are ordinary.
    init?(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?) {
        let isEdge = previous == nil || next == nil
        guard Self.isInvisible(scalar) || (isEdge && scalar.properties.generalCategory == .spaceSeparator),
            !Self.shapes(scalar, after: previous, before: next)
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

extension InvisibleMark {
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7f: false
        // Controls, separators of lines, controls of annotations.
        case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029, 0xfff9...0xfffb: true
        // Bidirectional controls, joiners, fillers, selectors of variants, tags.
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether an invisible scalar does its proper work here and would break the text if it were taken out.
    private static func shapes(_ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        guard let previous else { return false }
        switch scalar.value {
        // The one that makes an emoji of a digit, as in a keycap.
        case 0xfe0f where previous.isASCII:
            return next?.value == 0x20e3
        case _ where previous.isASCII:
            return false
        // The form of one character before, as of an emoji or a Chinese character.
        case 0xfe00...0xfe0f, 0xe0100...0xe01ef, 0x180b...0x180d, 0x180f:
            return !isInvisible(previous)
        case 0x200c, 0x200d:
            guard let next else { return false }
            // Within an emoji, the selector of a form may stand before.
            return !next.isASCII && (!isInvisible(previous) || previous.value == 0xfe0f) && !isInvisible(next)
        // The tags that spell a region after a black flag, as in the flag of Scotland.
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
