import DocumentModel
import HTTPTypes

/// The editor of a document with a row for each field.
struct FieldEditorPage: Page {
    static let template = TemplateLibrary.Name.editFields

    struct Row: ViewModel {
        private let number: Int
        private let depth: Int
        private let isElement: Bool
        /// True if the row has a name to edit.
        private let isField: Bool
        /// The number of the row in the form that was submitted, from which a script takes what was typed since then.
        private let origin: String?
        /// The type that the form shows.
        private let shownType: String
        private let focusesName: Bool
        private let focusesType: Bool
        private let focusesValue: Bool
        private let focusesUp: Bool
        private let focusesDown: Bool
        private let focusesRemove: Bool
        /// The name of the field or the index of the array element, for screen readers.
        private let label: String
        private let fieldName: FormField
        private let typesMarkup: Markup
        private let typeProblem: DisplayText?
        private let value: FormField
        /// The longitude of a geo point, or the encoding of bytes.
        private let secondaryValue: FormField
        private let chip: ColorChip?
        /// The value of the color input, which supports only opaque colors: the color without its alpha.
        private let pickable: String?
        /// An example of the input.
        private let hint: String?
        private let isString: Bool
        private let isLiteral: Bool
        private let isSingleLine: Bool
        private let isReference: Bool
        /// The suggestions for a reference.
        private let suggestionsMarkup: Markup
        /// True if the last search for a reference found nothing.
        private let hasNoSuggestions: Bool
        private let isVector: Bool
        private let isNumber: Bool
        private let isColor: Bool
        private let isTimestamp: Bool
        private let isBytes: Bool
        private let isBase64: Bool
        private let isBoolean: Bool
        private let isTrue: Bool
        private let isGeoPoint: Bool
        private let isContainer: Bool
        private let isArray: Bool

        /// - Parameters:
        ///   - label: The name of the value.
        ///   - types: The types to choose from.
        init(
            _ row: EditorRow,
            number: Int,
            isElement: Bool,
            label: String,
            chip: ColorChip?,
            types: [EditorValueType] = EditorValueType.allCases,
            problems: FormProblems
        ) {
            self.number = number
            depth = row.depth
            self.isElement = isElement
            isField = !isElement || !row.name.utf8.isEmpty
            origin = row.origin.map { "\($0)" }
            shownType = row.type.rawValue
            focusesName = row.focus == .name
            focusesType = row.focus == .type
            focusesValue = row.focus == .value
            focusesUp = row.focus == .up
            focusesDown = row.focus == .down
            focusesRemove = row.focus == .remove
            self.label = label
            fieldName = FormField("r\(number)-name", row.name, problems: problems)
            typesMarkup =
                types.map { FormOption($0.rawValue, $0.name, isSelected: $0 == row.type) }.optionsMarkup
            typeProblem = problems.message(for: "r\(number)-type")
            value = FormField("r\(number)-value", row.text, problems: problems)
            secondaryValue = FormField("r\(number)-more", row.secondaryText)
            self.chip = chip
            pickable = chip.map { "#\($0.color.digits.prefix(6))" }
            hint = Self.hint(for: row.type)
            isString = row.type == .string || row.hasLeftoverText
            isLiteral = row.type == .literal
            isSingleLine = [.integer, .double].contains(row.type)
            isReference = row.type == .reference
            suggestionsMarkup = (row.suggestions ?? []).map { FormOption($0, "", isSelected: false) }.optionsMarkup
            hasNoSuggestions = row.suggestions?.isEmpty ?? false
            isVector = row.type == .vector
            isNumber = row.type == .integer
            isColor = row.type == .color
            isTimestamp = row.type == .timestamp
            isBytes = row.type == .bytes
            isBase64 = row.secondaryText.utf8.elementsEqual("base64".utf8)
            isBoolean = row.type == .boolean
            isTrue = row.text.utf8.elementsEqual("true".utf8)
            isGeoPoint = row.type == .geoPoint
            isContainer = row.type.isContainer
            isArray = row.type == .array
        }

        private static func hint(for type: EditorValueType) -> String? {
            switch type {
            case .timestamp: "2014-09-09 08:00:47 UTC"
            case .reference: "books/hitchhiker"
            case .double: "2.5"
            case .integer: "816"
            default: nil
            }
        }
    }

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let editor: EditorHeader
    private let action: String
    private let hasEditorRows: Bool
    private let rowCount: Int
    private let rows: [Row]
    /// The field for the JSON that replaces the rows.
    private let paste: FormField

    init(_ editor: EditorContext, rows: EditorRows, pastedText: String = "") {
        paste = FormField("paste", pastedText, problems: editor.problems)
        self.editor = EditorHeader(editor)
        action = editor.target.url(asJSON: false)
        hasEditorRows = !rows.rows.isEmpty
        rowCount = rows.rows.count
        status = editor.problems.status
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
                row,
                number: number,
                isElement: isElement,
                label: name.utf8.isEmpty ? localized("new field") : DisplayText(name).plain,
                chip: chip,
                problems: editor.problems
            )
        }
        layout.colors = colors
    }
}
