import DocumentModel
import StrictJSON

/// Encodes strings for text fields of forms so that they round-trip.
///
/// Browsers normalize line breaks and do not show some characters. A string with such characters is shown as a JSON string
/// literal with escapes.
enum FormTextCoding {
    /// Returns whether a text field shows the string faithfully and returns it unchanged.
    static func roundTrips(_ string: String, lines: DisplayText.Lines) -> Bool {
        // Leading and trailing spaces are marked on pages, but round-trip in text fields.
        DisplayText(string, lines: lines).runs.allSatisfy { $0.mark.map { $0.scalar == " " } ?? true }
    }

    /// Returns the string for a single-line field: unchanged, or as a JSON literal when it does not round-trip or looks like one.
    static func encodeLine(_ string: String) -> String {
        let isAmbiguous = string.utf8.first == UInt8(ascii: "\"")
        return roundTrips(string, lines: .single) && !isAmbiguous ? string : encodeLiteral(string)
    }

    /// Decodes the value of a single-line field; `nil` if it begins with a quotation mark and is not a JSON string.
    static func decodeLine(_ line: String) -> String? {
        guard line.utf8.first == UInt8(ascii: "\"") else { return line }
        return decodeLiteral(line)
    }

    /// Returns the string as a JSON literal with escapes for invisible characters.
    static func encodeLiteral(_ string: String) -> String {
        var writer = JSONWriter()
        writer.string(string)
        return EscapedJSON.text(writer.finish())
    }

    /// Decodes a JSON string literal; `nil` if it is not one.
    static func decodeLiteral(_ text: String) -> String? {
        (try? JSONText(text))?.root.string
    }

    /// Returns the text without leading and trailing whitespace.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
        let bytes = text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return String(decoding: Array(bytes), as: UTF8.self)
    }

    /// Returns the trimmed, non-empty lines of text.
    static func lines(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n")).map { trimmed(String(Substring($0))) }.filter { !$0.utf8.isEmpty }
    }
}
