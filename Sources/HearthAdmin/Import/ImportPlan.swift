import DocumentModel
import HearthService
import StrictJSON

/// How a file becomes documents.
struct ImportPlan: Sendable {
    var format = ImportFormat.automatic
    /// Where documents go that don't say it themselves; nil when all of them must.
    var collection: CollectionPath?
    /// The field or column that holds the ID; nil for IDs that nobody has chosen.
    var idField: UTF8Key?
    /// Whether the cells of a table stay texts, whatever they look like.
    var keepsTexts = false

    /// A document of the file.
    struct Entry: Sendable {
        /// The line on which it begins.
        let line: Int
        let path: DocumentPath
        let fields: MapValue
        /// About how much it is to write.
        let byteCount: Int
    }

    /// A document of the file that can't be read.
    struct Fault: Error {
        let place: TextPlace
        let error: StatusError

        init(place: TextPlace, error: StatusError) {
            (self.place, self.error) = (place, error)
        }

        /// Something about which only its line is known.
        init(line: Int, error: StatusError) {
            self.init(place: TextPlace(line: line), error: error)
        }
    }

    /// The place of a document by its ID in the collection that the plan names.
    func path(id: String?) throws(StatusError) -> DocumentPath {
        guard let collection else {
            throw StatusError(
                .invalidArgument,
                "The document doesn't say its path. Name the collection that it is for, or write {\"path\": …, \"fields\": {…}}."
            )
        }
        return collection.document(try id.map { id throws(StatusError) in try DocumentID(id) } ?? .automatic())
    }

    /// Takes a document from JSON: with its path, or as fields alone.
    func document(_ json: JSONNode) throws(StatusError) -> (path: DocumentPath, fields: MapValue) {
        if json["path"]?.string != nil, json["fields"]?.kind == .object {
            let line = try DocumentLine(json)
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

    /// The ID that a value is.
    static func id(_ value: Value?, of field: UTF8Key) throws(StatusError) -> String {
        switch value {
        case .string(let text)?: return text
        case .integer(let number)?: return String(number)
        case nil: throw StatusError(.invalidArgument, "There is no field \(Excerpt(field.string)) to take the ID from.")
        default:
            throw StatusError(
                .invalidArgument,
                "The field \(Excerpt(field.string)) is no text and no integer, so it can't be the ID."
            )
        }
    }
}
