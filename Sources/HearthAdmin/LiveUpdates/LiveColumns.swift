import DocumentModel
import UTF8Text

/// The columns of a live table: those of the page, with their predominant types.
struct LiveColumns: Sendable {
    let columns: [CollectionColumns.Column]
    /// True if the table has a column for every field, so that an additional field must be reported.
    private let showsAllFields: Bool

    /// Creates the columns of a table.
    init(_ columns: CollectionColumns) {
        self.columns = columns.shown
        showsAllFields = columns.showsAllFields
    }

    /// Decodes the columns from the URL of a stream.
    ///
    /// - Throws: `invalidArgument` for a column that is not a field path.
    init(_ query: URLQuery) throws(StatusError) {
        showsAllFields = query["columns"] == "all"
        var columns: [CollectionColumns.Column] = []
        for item in query.values(of: "column") {
            let type = item.utf8.prefix { $0 != UInt8(ascii: ":") }
            let field = String(Substring(item.utf8.dropFirst(type.count + 1)))
            columns.append(
                CollectionColumns.Column(
                    path: try FieldPathText.path(field),
                    types: ValueType.allCases.filter { $0.rawValue.utf8.elementsEqual(type) }
                )
            )
        }
        self.columns = columns
    }

    /// The items for the URL of a stream.
    var items: [(name: StaticString, value: UTF8Key)] {
        [("columns", showsAllFields ? "all" : "chosen")]
            + columns.map { ("column", UTF8Key("\($0.predominantType?.rawValue ?? ""):\(FieldPathText.text($0.path))")) }
    }

    /// Returns the fields of a document without a column in a table that shows all fields.
    func unlistedFields(of document: Document) -> [FieldPath] {
        guard showsAllFields else { return [] }
        let shown = Set(columns.map(\.path))
        return CollectionColumns.fields(of: [document], depth: 1).filter { !shown.contains($0) }
    }
}
