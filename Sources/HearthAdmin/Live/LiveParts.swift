import DocumentModel
import StrictJSON

/// What is put in place of a document.
struct LiveParts {
    private var rows = ""
    private var parts: [String] = []
    private var styles: [String] = []
    private var fields: [String] = []
    private var isWhole = false

    /// Draws a document as the page shows it that follows.
    init(of document: Document, in events: LiveEvents) {
        switch events.contents {
        case .rows(let columns):
            var values = ValueViewBuilder()
            let row = CollectionRow(document, columns: columns.columns, values: &values)
            rows = [row].markup(mayWrite: events.mayWrite, columnCount: columns.columns.count).string
            styles = values.colors.rules
            fields = columns.missing(of: document).map { FieldText.text($0) }
        case .document:
            let header = DocumentHeader(document, view: .fields, now: events.now())
            let lines = FieldRows(of: document.fields)
            rows = lines.rows.map { events.templates.text(of: $0, with: .fieldRow) }.joined()
            parts = [events.templates.text(of: header, with: .documentFacts)]
            styles = lines.values.colors.rules
            isWhole = true
        case .nothing: break
        }
    }

    /// Writes them as members of an object.
    func write(to writer: inout JSONWriter) {
        writer.key("rows")
        writer.string(rows)
        writer.key("parts")
        writer.strings(parts)
        writer.key("styles")
        writer.strings(styles)
        writer.key("fields")
        writer.strings(fields)
        writer.key("isWhole")
        writer.boolean(isWhole)
    }
}

extension JSONWriter {
    fileprivate mutating func strings(_ texts: [String]) {
        beginArray()
        for text in texts { string(text) }
        endArray()
    }
}
