import DocumentModel

/// A table row of a document.
struct CollectionRow: Sendable {
    /// The cell of a column.
    struct Cell: Sendable {
        /// The field's value; `nil` if the document lacks the field.
        let value: ValueView?
        /// The value's type if it differs from the column's predominant type, by more than the type of a number.
        let unusualType: ValueType?
        let isNumeric: Bool
        /// The links that filter by the value; `nil` if the table offers none.
        var filters: ValueFilterLinks?
        /// The link to the editor of the value; `nil` if the table offers none.
        var editURL: String?
    }

    let link: LinkView
    /// The version that the row's checkbox submits; `nil` if the row cannot be selected.
    let version: SelectedDocument?
    /// The cells; `nil` for a missing document.
    let cells: [Cell]?

    /// The number of cells with an unusual type.
    var unusualCount: Int { (cells ?? []).count { $0.unusualType != nil } }

    /// Creates the row of an existing document.
    ///
    /// - Parameters:
    ///   - link: The link to the document; `nil` for its ID.
    ///   - request: The request of the page, if its cells have links that filter by their values.
    ///   - canWrite: Whether these cells have links to the editors of their values, too.
    init(
        _ document: Document,
        link: LinkView? = nil,
        columns: [CollectionColumns.Column],
        filtering request: CollectionRequest? = nil,
        canWrite: Bool = false,
        values: inout ValueViewBuilder
    ) {
        self.link = link ?? LinkView(toRowOf: document.path)
        version = link == nil ? SelectedDocument(path: document.path, updateTime: document.updateTime) : nil
        cells = columns.map { column in
            guard let value = document.fields[column.path] else { return Cell(value: nil, unusualType: nil, isNumeric: false) }
            let type = ValueType(of: value)
            let isUsual = type == .null || column.predominantType.map(type.isComparable) == true
            return Cell(
                value: values.view(of: value, in: .cell),
                unusualType: isUsual ? nil : type,
                isNumeric: type.isNumeric,
                filters: request.flatMap { ValueFilterLinks(column.path, value, in: $0) },
                editURL: canWrite && request != nil ? AdminURL.value(FieldPathText.text(column.path), of: document.path) : nil
            )
        }
    }

    /// Creates the row of a missing document that has subcollections.
    init(missing path: DocumentPath) {
        link = LinkView(toRowOf: path)
        version = nil
        cells = nil
    }
}
