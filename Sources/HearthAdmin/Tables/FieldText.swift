import DocumentModel
import StrictJSON

/// The path of a field as forms and addresses write it.
///
/// It is the text of the field path, as calls take it: `author.name`. A name alone may also stand as it is, without the back-quotes
/// that a hyphen or a space asks for. A path with characters that nobody sees is written as a JSON string, with escapes for them.
enum FieldText {
    /// The text of a path.
    static func text(_ path: FieldPath) -> String {
        let text = path.description
        guard DisplayText(text).runs.contains(where: { $0.mark != nil }) else { return text }
        return VisibleJSON.text(Value.string(text).json)
    }

    /// Reads a path.
    ///
    /// - Throws: `invalidArgument` saying how the path is written instead.
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
