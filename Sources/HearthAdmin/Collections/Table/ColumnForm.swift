import DocumentModel

/// The form that chooses the columns of a table.
struct ColumnForm: ViewModel {
    private let action: String
    private let hasOptions: Bool
    private let checkboxesMarkup: Markup
    private let hiddenFields: [HiddenField]
    private let resetURL: String?

    /// - Parameters:
    ///   - fields: The fields of the documents.
    ///   - shown: The current columns.
    init(_ request: CollectionRequest, fields: [FieldPath], shown: [CollectionColumns.Column]) {
        let shownPaths = Set(shown.map(\.path))
        let others = shown.map(\.path).filter { !fields.contains($0) }
        let options = (others + fields).prefix(Self.limit).map { path in
            let text = FieldPathText.text(path)
            return FormOption(text, text, isSelected: shownPaths.contains(path))
        }
        hasOptions = !options.isEmpty
        checkboxesMarkup = options.checkboxesMarkup(named: "cols")
        action = AdminURL.collection(request.path)
        var rest = request
        rest.columns = []
        hiddenFields = FilterFormView.hiddenFields(of: rest)
        resetURL = request.columns.isEmpty ? nil : request.url { $0.columns = [] }
    }

    private static let limit = 200
}
