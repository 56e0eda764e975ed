import DocumentModel
import HTTPTypes
import StrictJSON

/// The editor of a document field by field.
struct EditFieldsPage: Page {
    static let template = TemplateLibrary.Name.editFields

    /// A row of the editor.
    struct Row: Sendable {
        let number: Int
        let row: EditedRow
        let isElement: Bool
        /// Where it stands, for those who don't see it.
        let label: String
        let problems: FormProblems
        let chip: ColorChip?
    }

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let frame: EditFrame
    private let rows: [Row]

    init(_ frame: EditFrame, rows: EditedRows) {
        self.frame = frame
        status = frame.problems.isEmpty ? .ok : .unprocessableContent
        chrome = frame.chrome
        var colors = ColorStyles()
        var counts = [0]
        self.rows = rows.rows.enumerated().map { number, row in
            counts = Array(counts.prefix(row.depth + 1)) + [Int](repeating: 0, count: max(0, row.depth + 1 - counts.count))
            defer { counts[row.depth] += 1 }
            let isElement = rows.isElement(number)
            let chip = row.type == .color ? ColorChip(row.text) : nil
            if let chip { colors.insert(chip.color) }
            let name = isElement ? "[\(counts[row.depth])]" : row.name.shortened(scalars: 60)
            return Row(
                number: number,
                row: row,
                isElement: isElement,
                label: name.utf8.isEmpty ? localized("new field") : DisplayText(name).plain,
                problems: frame.problems,
                chip: chip
            )
        }
        chrome.colors = colors
    }

    func content(named name: String) -> Any? {
        switch name {
        case "rows": rows
        case "rowCount": rows.count
        case "hasEditorRows": !rows.isEmpty
        case "action": frame.target.url(asJSON: false)
        default: frame.child(named: name)
        }
    }
}

extension EditFieldsPage.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "number": number
        case "depth": row.depth
        case "label": label
        case "isElement": isElement
        case "isField": !isElement || !row.name.utf8.isEmpty
        case "isNew": row.isNew
        case "fieldName": FormField("r\(number)-name", row.name, problems: problems)
        case "typeProblem": problems.message(at: "r\(number)-type").orAbsent
        case "typesMarkup": EditedType.allCases.map { Option($0.rawValue, $0.name, isCurrent: $0 == row.type) }.listMarkup
        case "value": FormField("r\(number)-value", row.text, problems: problems)
        case "more": FormField("r\(number)-more", row.more)
        case "chip": chip.orAbsent
        case "pickable": (chip.flatMap { $0.color.isOpaque ? "#\($0.color.digits)" : nil }).orAbsent
        case "isText": row.type == .string || row.hasLeftoverText
        case "isLiteral": row.type == .literal
        case "isLine": [.integer, .double, .timestamp, .reference].contains(row.type)
        case "isVector": row.type == .vector
        case "isNumber": row.type == .integer
        case "isColor": row.type == .color
        case "isBytes": row.type == .bytes
        case "isBase64": row.more.utf8.elementsEqual("base64".utf8)
        case "isBoolean": row.type == .boolean
        case "isTrue": row.text.utf8.elementsEqual("true".utf8)
        case "isPlace": row.type == .geoPoint
        case "isContainer": row.type.isContainer
        case "isArray": row.type == .array
        case "hint": hint.orAbsent
        default: nil
        }
    }

    /// How a value of the type is written.
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
