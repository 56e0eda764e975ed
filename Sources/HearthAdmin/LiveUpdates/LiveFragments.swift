import DocumentModel
import StrictJSON

/// The HTML fragments that update a document on a page.
struct LiveFragments {
    private var rows = ""
    private var parts: [String] = []
    private var styles: [String] = []
    private var fields: [String] = []
    private var isComplete = false

    /// Renders a document as the subscribed page shows it.
    init(of document: Document, in events: LiveEventEncoder) {
        switch events.contents {
        case .rows(let columns):
            var values = ValueViewBuilder()
            let row = CollectionRow(document, columns: columns.columns, values: &values)
            rows = [row].markup(canWrite: events.canWrite, columnCount: columns.columns.count).string
            styles = values.colors.rules
            fields = columns.unlistedFields(of: document).map { FieldPathText.text($0) }
        case .document(let expanded):
            let header = DocumentHeader(document, view: .fields, now: events.now())
            let lines = FieldRowList(of: document, canWrite: events.canWrite, expanding: expanded)
            rows = lines.rows.markup.string
            parts = [events.templates.text(of: header, with: .documentFacts)]
            styles = lines.values.colors.rules
            isComplete = true
        case .none: break
        }
    }

    /// Writes the fragments as members of a JSON object.
    func write(to writer: inout JSONWriter) {
        writer.key("rows")
        writer.string(rows)
        writer.key("parts")
        writer.strings(parts)
        writer.key("styles")
        writer.strings(styles)
        writer.key("fields")
        writer.strings(fields)
        writer.key("isComplete")
        writer.boolean(isComplete)
    }
}

extension JSONWriter {
    fileprivate mutating func strings(_ strings: [String]) {
        beginArray()
        for string in strings { self.string(string) }
        endArray()
    }
}
