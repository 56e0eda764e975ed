import DocumentModel
import HTTPTypes
import StrictJSON

/// The editor of a document as a whole, as JSON.
struct EditJSONPage: Page {
    static let template = TemplateLibrary.Name.editJSON

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let frame: EditFrame
    private let text: String
    /// The line that is at fault, where one is.
    private let fault: Fault?
    /// Whether the document is too large for the editor of its fields.
    private let isTooLarge: Bool

    /// A line of what was typed, cut around the place where something is wrong.
    struct Fault: Sendable {
        let line: Int
        let column: Int
        let before: DisplayText
        let after: DisplayText

        /// - Parameters:
        ///   - line: The line, from 1.
        ///   - column: The place in it, in Unicode scalars, from 1.
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

    init(_ frame: EditFrame, text: String, fault: Fault? = nil, isTooLarge: Bool = false) {
        self.frame = frame
        self.text = text
        self.fault = fault
        self.isTooLarge = isTooLarge
        status = frame.problems.isEmpty ? .ok : .unprocessableContent
        chrome = frame.chrome
    }

    /// The fields of a document as the editor shows them.
    static func text(of fields: MapValue) -> String {
        var writer = JSONWriter()
        fields.write(to: &writer)
        // What was just written is JSON.
        return (try? JSONText(writer.finish()).root).map(JSONOutline.text) ?? "{}"
    }

    func content(named name: String) -> Any? {
        switch name {
        case "json": FormField("json", text, problems: frame.problems)
        case "fault": fault.orAbsent
        case "isTooLarge": isTooLarge
        case "action": frame.target.url(asJSON: true)
        default: frame.child(named: name)
        }
    }
}

extension EditJSONPage.Fault: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "line": line
        case "column": column
        case "before": before
        case "after": after
        default: nil
        }
    }
}

/// The fields that were typed as JSON.
struct TypedJSON {
    /// What is wrong with them, and where.
    struct Failure: Error {
        let message: String
        let place: (line: Int, column: Int)?
    }

    /// Reads what was typed.
    static func fields(_ text: String) throws(Failure) -> MapValue {
        do {
            return try MapValue(json: JSONText(text).root)
        } catch let error as JSONSyntaxError {
            throw Failure(message: error.reason.description, place: (error.line, error.column))
        } catch let error as StatusError {
            throw Failure(message: error.message, place: error.textPlace.map { ($0.line, $0.column) })
        } catch {
            throw Failure(message: "\(error)", place: nil)
        }
    }
}
