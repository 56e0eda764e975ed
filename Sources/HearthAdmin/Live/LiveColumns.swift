import DocumentModel
import StrictJSON

/// The columns of a table that is followed: those that the page has, with the types that their cells have unless they say otherwise.
struct LiveColumns: Sendable {
    let columns: [CollectionColumns.Column]
    /// Whether the table has all fields that its documents had, so that another one is news.
    private let areAll: Bool

    /// Those of a table.
    init(_ columns: CollectionColumns) {
        self.columns = columns.shown
        areAll = columns.areAll
    }

    /// Those that the address of a stream names.
    ///
    /// - Throws: `invalidArgument` for one that is no field path.
    init(_ query: Query) throws(StatusError) {
        areAll = query["columns"] == "all"
        var columns: [CollectionColumns.Column] = []
        for item in query.values(of: "column") {
            let type = item.utf8.prefix { $0 != UInt8(ascii: ":") }
            let field = String(Substring(item.utf8.dropFirst(type.count + 1)))
            columns.append(
                CollectionColumns.Column(
                    path: try FieldText.path(field),
                    types: ValueType.allCases.filter { $0.rawValue.utf8.elementsEqual(type) }
                )
            )
        }
        self.columns = columns
    }

    /// What the address of a stream says of them.
    var items: [(name: StaticString, value: UTF8Key)] {
        [("columns", areAll ? "all" : "chosen")]
            + columns.map { ("column", UTF8Key("\($0.usualType?.rawValue ?? ""):\(FieldText.text($0.path))")) }
    }

    /// The fields of a document that the table would have a column for, and has none.
    func missing(of document: Document) -> [FieldPath] {
        guard areAll else { return [] }
        let shown = Set(columns.map(\.path))
        return CollectionColumns.fields(of: [document], depth: 1).filter { !shown.contains($0) }
    }
}
