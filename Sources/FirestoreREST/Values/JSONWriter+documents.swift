import DocumentModel
import DocumentStore
import StrictJSON

extension JSONWriter {
    /// Writes a document: `{"name": …, "fields": {…}, "createTime": …, "updateTime": …}`, without fields where it has none.
    ///
    /// - Throws: ``StatusCode/dataLoss`` when the fields were not made by encoding a document.
    mutating func write(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) {
        beginObject()
        key("name")
        string(database.name(of: document.path))
        do {
            try writeFields(ofJSON: JSONText(document.fieldsJSON, limits: .message).root, in: database)
        } catch {
            throw StatusError(
                .dataLoss,
                "The encoded fields of the document can't be read: \(error)",
                path: document.path.string,
                cause: error
            )
        }
        key("createTime")
        string(document.createTime.rfc3339)
        key("updateTime")
        string(document.updateTime.rfc3339)
        endObject()
    }

    private mutating func writeFields(ofJSON node: JSONNode, in database: DatabaseName) throws(StatusError) {
        // What stands around fields of which a name begins with $.
        let fields = (node.count == 1 ? node["$map"] : nil) ?? node
        guard fields.count > 0, let members = fields.members else { return }
        key("fields")
        beginObject()
        for (name, value) in members {
            key(name)
            try write(value, in: database)
        }
        endObject()
    }

    /// Writes the entry of a list: one that does not exist has only its name.
    mutating func write(_ entry: ListedDocument, in database: DatabaseName) throws(StatusError) {
        switch entry {
        case .document(let document):
            try write(document, in: database)
        case .missing(let path):
            beginObject()
            key("name")
            string(database.name(of: path))
            endObject()
        }
    }

    /// Writes what came of a write.
    mutating func write(_ result: WriteResult, in database: DatabaseName) {
        beginObject()
        if let time = result.updateTime {
            key("updateTime")
            string(time.rfc3339)
        }
        if !result.transformResults.isEmpty {
            key("transformResults")
            beginArray()
            for value in result.transformResults { write(value, in: database) }
            endArray()
        }
        endObject()
    }
}
