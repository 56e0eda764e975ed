import DocumentModel
import HTTPTypes
import StrictJSON

/// The editor of a document as JSON.
struct JSONEditorPage: Page {
    static let template = TemplateLibrary.Name.editJSON

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let editor: EditorHeader
    private let action: String
    private let json: FormField
    private let errorExcerpt: ErrorExcerpt?
    /// True if the document is too large for the field editor.
    private let isTooLarge: Bool

    /// The text around a syntax error.
    struct ErrorExcerpt: ViewModel {
        let line: Int
        let column: Int
        let before: DisplayText
        let after: DisplayText

        /// - Parameters:
        ///   - line: The line number, from 1.
        ///   - column: The position in the line in Unicode scalars, from 1.
        init(in text: String, line: Int, column: Int) {
            (self.line, self.column) = (line, column)
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let found = lines.indices.contains(line - 1) ? String(Substring(lines[line - 1])) : ""
            let scalars = Array(found.unicodeScalars)
            let middle = min(max(0, column - 1), scalars.count)
            before = DisplayText(Self.text(scalars[max(0, middle - 30)..<middle]))
            after = DisplayText(Self.text(scalars[middle..<min(scalars.count, middle + 30)]))
        }

        private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return String(text)
        }
    }

    init(_ editor: EditorContext, text: String, errorExcerpt: ErrorExcerpt? = nil, isTooLarge: Bool = false) {
        self.editor = EditorHeader(editor)
        action = editor.target.url(asJSON: true)
        json = FormField("json", text, problems: editor.problems)
        self.errorExcerpt = errorExcerpt
        self.isTooLarge = isTooLarge
        status = editor.problems.status
        layout = editor.layout
    }

    /// Returns the fields of a document as indented JSON.
    static func text(of fields: MapValue) -> String {
        var writer = JSONWriter()
        fields.write(to: &writer)
        // The written JSON is valid.
        return (try? JSONText(writer.finish()).root).map(JSONPrettyPrinter.text) ?? "{}"
    }
}

/// Parses the fields of a document from the JSON editor.
enum JSONInput {
    struct InvalidInput: Error {
        let message: String
        let location: (line: Int, column: Int)?
    }

    static func fields(_ text: String) throws(InvalidInput) -> MapValue {
        do {
            return try MapValue(json: JSONText(text).root)
        } catch let error as JSONSyntaxError {
            throw InvalidInput(message: error.reason.description, location: (error.line, error.column))
        } catch let error as StatusError {
            throw InvalidInput(message: error.message, location: error.sourceLocation.map { ($0.line, $0.column) })
        } catch {
            throw InvalidInput(message: "\(error)", location: nil)
        }
    }
}
