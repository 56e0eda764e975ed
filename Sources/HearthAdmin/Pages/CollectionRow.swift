import DocumentModel

/// A document as a row of a table.
struct CollectionRow: Sendable {
    /// A cell: what the document has in the column's field.
    struct Cell: Sendable {
        /// Nil when the document has no such field.
        let value: ValueView?
        /// The value's type, where it isn't the usual one of the column.
        let unusualType: ValueType?
        let isNumeric: Bool
    }

    let link: LinkView
    /// What is sent when it is ticked, to be deleted with others; nil where it can't be.
    let version: Deletion.Version?
    /// The cells; nil for a document that doesn't exist, with others below it.
    let cells: [Cell]?

    /// How many of the values have another type than the rest of their column.
    var unusualCount: Int { (cells ?? []).count { $0.unusualType != nil } }

    /// A document that exists.
    ///
    /// - Parameter link: The link to it; its ID when nil.
    init(_ document: Document, link: LinkView? = nil, columns: [CollectionColumns.Column], values: inout ValueViewBuilder) {
        self.link = link ?? LinkView(toRowOf: document.path)
        version = link == nil ? Deletion.Version(path: document.path, updateTime: document.updateTime) : nil
        cells = columns.map { column in
            guard let value = document.fields[column.path] else { return Cell(value: nil, unusualType: nil, isNumeric: false) }
            let type = ValueType(of: value)
            return Cell(
                value: values.view(of: value, in: .cell),
                unusualType: type == column.usualType || type == .null ? nil : type,
                isNumeric: type.isNumeric
            )
        }
    }

    /// A document that doesn't exist, with others below it.
    init(missing path: DocumentPath) {
        link = LinkView(toRowOf: path)
        version = nil
        cells = nil
    }
}
