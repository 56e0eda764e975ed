import DocumentModel
import StrictJSON
import UTF8Text

/// The notation of field paths in forms and URLs.
///
/// It is the field path syntax of the API, `author.name`. A single name may omit the backticks that a hyphen or a space
/// requires. A path with invisible characters is written as a JSON string that escapes them.
enum FieldPathText {
    /// Returns the text of a path.
    static func text(_ path: FieldPath) -> String {
        let text = path.description
        guard DisplayText(text).runs.contains(where: { $0.mark != nil }) else { return text }
        return EscapedJSON.text(Value.string(text).json)
    }

    /// Parses a path.
    ///
    /// - Throws: `invalidArgument` describing the expected syntax.
    static func path(_ text: String) throws(StatusError) -> FieldPath {
        var text = text
        if text.utf8.first == UInt8(ascii: "\""), let string = try? JSONText(text).root.string { text = string }
        do throws(StatusError) {
            return try FieldPath(text)
        } catch {
            let hasSyntax = text.utf8.contains { [UInt8(ascii: "."), UInt8(ascii: "`"), UInt8(ascii: "\\")].contains($0) }
            guard !text.utf8.isEmpty, !hasSyntax else { throw error }
            return try FieldPath(segments: [UTF8Key(text)])
        }
    }
}
