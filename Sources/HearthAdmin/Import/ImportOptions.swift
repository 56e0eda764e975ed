import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// The options of an import, which determine the path and fields of each record.
struct ImportOptions: Sendable {
    var format = ImportFormat.automatic
    /// The collection of records without a path.
    var collection: CollectionPath?
    /// The field or column with the document ID; `nil` for automatic IDs.
    var idField: UTF8Key?
    /// True if all cells of a table become strings.
    var readsCellsAsStrings = false

    /// Returns the path of a record in ``collection``, with an automatic ID when it has none.
    func path(id: String?) throws(StatusError) -> DocumentPath {
        guard let collection else { throw Self.missingPath }
        return collection.document(try id.map { id throws(StatusError) in try DocumentPath.ID(id) } ?? .automatic())
    }

    /// The error of a record without a path in an import without a collection.
    static let missingPath = StatusError(
        .invalidArgument,
        "The document has no path. Specify a collection, or write the document as {\"path\": …, \"fields\": {…}}."
    )

    /// Decodes a document from JSON: an object with `path` and `fields`, or the fields alone.
    func document(_ json: JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue) {
        if json["path"]?.string != nil, json["fields"]?.kind == .object {
            let line = try DocumentExportLine(json)
            return (line.path, line.fields)
        }
        var fields = try MapValue(json: json)
        var id: String?
        if let idField {
            id = try Self.id(fields[idField], of: idField)
            fields[idField] = nil
        }
        let path = try path(id: id)
        try Document.validate(fields, at: path)
        return (path, fields)
    }

    private static func id(_ value: Value?, of field: UTF8Key) throws(StatusError) -> String {
        switch value {
        case .string(let text)?: return text
        case .integer(let number)?: return String(number)
        case nil: throw StatusError(.invalidArgument, "The document has no ID field \(Excerpt(field.string)).")
        default: throw StatusError(.invalidArgument, "The ID field \(Excerpt(field.string)) must be a string or an integer.")
        }
    }
}
