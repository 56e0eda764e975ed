import DocumentModel
import StrictJSON

/// Strings in the fields of forms.
///
/// A browser changes some characters on the way, and shows others as nothing. A string with such is written as JSON does, between
/// quotation marks and with escapes.
enum EditedText {
    /// Whether a text field shows the string as it is, and gives it back as it was.
    static func isPlain(_ string: String, lines: DisplayText.Lines) -> Bool {
        // Spaces at the edges are marked for readers only.
        DisplayText(string, lines: lines).runs.allSatisfy { $0.mark.map { $0.scalar == " " } ?? true }
    }

    /// A string on one line: as it is, or as JSON where it isn't plain or could be taken for JSON.
    static func line(_ string: String) -> String {
        let isAmbiguous = string.utf8.first == UInt8(ascii: "\"")
        return isPlain(string, lines: .single) && !isAmbiguous ? string : literal(string)
    }

    /// What a line stands for; nil when it begins as JSON and isn't.
    static func string(ofLine line: String) -> String? {
        guard line.utf8.first == UInt8(ascii: "\"") else { return line }
        return string(ofLiteral: line)
    }

    /// A string as JSON, with escapes for what can't be seen.
    static func literal(_ string: String) -> String {
        var writer = JSONWriter()
        writer.string(string)
        return VisibleJSON.text(writer.finish())
    }

    /// The string that JSON stands for; nil when it isn't one.
    static func string(ofLiteral text: String) -> String? {
        (try? JSONText(text))?.root.string
    }
}
