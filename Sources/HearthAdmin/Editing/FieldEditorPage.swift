import DocumentModel
import HTTPTypes

/// The editor of a document with a row for each field.
struct FieldEditorPage: Page {
    static let template = TemplateLibrary.Name.editFields

    struct Row: Sendable {
        let number: Int
        let row: EditorRow
        let isElement: Bool
        /// The name of the field or the index of the array element, for screen readers.
        let label: String
        let problems: FormProblems
        let chip: ColorChip?
    }

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let editor: EditorContext
    private let rows: [Row]

    init(_ editor: EditorContext, rows: EditorRows) {
        self.editor = editor
        status = editor.problems.isEmpty ? .ok : .unprocessableContent
        layout = editor.layout
        var colors = ColorStyleSheet()
        var counts = [0]
        self.rows = rows.rows.enumerated().map { number, row in
            counts = Array(counts.prefix(row.depth + 1)) + [Int](repeating: 0, count: max(0, row.depth + 1 - counts.count))
            defer { counts[row.depth] += 1 }
            let isElement = rows.isElement(number)
            let chip = row.type == .color ? ColorChip(row.text) : nil
            if let chip { colors.insert(chip.color) }
            let name = isElement ? "[\(counts[row.depth])]" : row.name.truncatingMiddle(toScalars: 60)
            return Row(
                number: number,
                row: row,
                isElement: isElement,
                label: name.utf8.isEmpty ? localized("new field") : DisplayText(name).plain,
                problems: editor.problems,
                chip: chip
            )
        }
        layout.colors = colors
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": rows
        case "rowCount": rows.count
        case "hasEditorRows": !rows.isEmpty
        case "action": editor.target.url(asJSON: false)
        default: editor.child(named: name)
        }
    }
}

extension FieldEditorPage.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "number": number
        case "depth": row.depth
        case "label": label
        case "isElement": isElement
        case "isField": !isElement || !row.name.utf8.isEmpty
        case "isNew": row.isNew
        case "fieldName": FormField("r\(number)-name", row.name, problems: problems)
        case "typeProblem": problems.message(for: "r\(number)-type").orAbsent
        case "typesMarkup":
            EditorValueType.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == row.type) }.optionsMarkup
        case "value": FormField("r\(number)-value", row.text, problems: problems)
        case "secondaryValue": FormField("r\(number)-more", row.secondaryText)
        case "chip": chip.orAbsent
        case "pickable": (chip.flatMap { $0.color.isOpaque ? "#\($0.color.digits)" : nil }).orAbsent
        case "isString": row.type == .string || row.hasLeftoverText
        case "isLiteral": row.type == .literal
        case "isSingleLine": [.integer, .double, .timestamp, .reference].contains(row.type)
        case "isVector": row.type == .vector
        case "isNumber": row.type == .integer
        case "isColor": row.type == .color
        case "isBytes": row.type == .bytes
        case "isBase64": row.secondaryText.utf8.elementsEqual("base64".utf8)
        case "isBoolean": row.type == .boolean
        case "isTrue": row.text.utf8.elementsEqual("true".utf8)
        case "isGeoPoint": row.type == .geoPoint
        case "isContainer": row.type.isContainer
        case "isArray": row.type == .array
        case "hint": hint.orAbsent
        default: nil
        }
    }

    /// An example of the input.
    private var hint: String? {
        switch row.type {
        case .timestamp: "2014-09-09T08:00:47.25Z"
        case .reference: "books/hitchhiker"
        case .double: "2.5"
        case .integer: "816"
        default: nil
        }
    }
}
