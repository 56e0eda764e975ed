import DocumentModel

/// The form that chooses and arranges the columns of a table, which the browser keeps.
struct ColumnForm: ViewModel {
    /// A column of the table.
    struct Row: ViewModel {
        let fieldText: String
        let fieldName: DisplayText
        /// The one-based position.
        let position: Int
        /// The width in pixels; `nil` for that of the values.
        let width: Int?
        let isPinned: Bool
    }

    private let action: String
    private let hasOptions: Bool
    private let columnRows: [Row]
    private let hasColumnRows: Bool
    private let checkboxesMarkup: Markup
    private let hasCheckboxes: Bool
    /// True if the columns are the fields of the documents.
    private let isAutomatic: Bool
    /// True if the browser keeps a layout or the URL has columns, which a button resets.
    private let canReset: Bool
    /// The page without columns in its URL.
    private let nextURL: String
    private let minimumWidth = TableLayout.widthRange.lowerBound
    private let maximumWidth = TableLayout.widthRange.upperBound

    /// - Parameters:
    ///   - fields: The fields of the documents.
    ///   - shown: The current columns.
    ///   - layout: The layout that the browser keeps.
    init(_ request: CollectionRequest, fields: [FieldPath], shown: [CollectionColumns.Column], layout: TableLayout) {
        let shownPaths = Set(shown.map(\.path))
        columnRows = shown.enumerated().map { index, column in
            Row(
                fieldText: FieldPathText.text(column.path),
                fieldName: DisplayText(column.path.description),
                position: index + 1,
                width: layout.widths[column.path],
                isPinned: layout.pinned.contains(column.path)
            )
        }
        hasColumnRows = !columnRows.isEmpty
        let options = fields.filter { !shownPaths.contains($0) }.prefix(Self.limit).map { path in
            let text = FieldPathText.text(path)
            return FormOption(text, text, isSelected: false)
        }
        checkboxesMarkup = options.checkboxesMarkup(named: "cols")
        hasCheckboxes = !options.isEmpty
        hasOptions = hasColumnRows || hasCheckboxes
        isAutomatic = request.columns.isEmpty
        canReset = !request.columns.isEmpty || layout != TableLayout()
        action = AdminURL.collection(request.path) + "?columns"
        nextURL = request.url { $0.columns = [] }
    }

    private static let limit = 200
}
