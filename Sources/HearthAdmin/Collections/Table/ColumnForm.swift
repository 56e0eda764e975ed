import DocumentModel

/// The form that chooses the columns of a table.
struct ColumnForm: Sendable {
    private let action: String
    private let options: [FormOption]
    private let hiddenFields: [FormOption]
    private let resetURL: String?

    /// - Parameters:
    ///   - fields: The fields of the documents.
    ///   - shown: The current columns.
    init(_ request: CollectionRequest, fields: [FieldPath], shown: [CollectionColumns.Column]) {
        let shownPaths = Set(shown.map(\.path))
        let others = shown.map(\.path).filter { !fields.contains($0) }
        options = (others + fields).prefix(Self.limit).map { path in
            let text = FieldPathText.text(path)
            return FormOption(text, text, isSelected: shownPaths.contains(path))
        }
        action = AdminURL.collection(request.path)
        var rest = request
        rest.columns = []
        hiddenFields = FilterFormView.hiddenFields(of: rest)
        resetURL = request.columns.isEmpty ? nil : request.url { $0.columns = [] }
    }

    private static let limit = 200
}

extension ColumnForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "action": action
        case "checkboxesMarkup": options.checkboxesMarkup(named: "cols")
        case "hasOptions": !options.isEmpty
        case "hiddenFields": hiddenFields
        case "resetURL": resetURL.orAbsent
        default: nil
        }
    }
}
