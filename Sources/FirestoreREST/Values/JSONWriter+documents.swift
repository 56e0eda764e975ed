import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import StrictJSON

extension JSONWriter {
    /// Writes a document: `{"name": …, "fields": {…}, "createTime": …, "updateTime": …}`, without `fields` when it has none.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the encoded fields are damaged.
    mutating func write(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) {
        beginObject()
        key("name")
        string(database.name(of: document.path))
        do {
            if let fields = try FieldTranscoder.transcode(document.fieldsJSON, in: database) {
                key("fields")
                raw(fields)
            }
        } catch {
            throw document.damagedFieldsError(error)
        }
        let createTime = document.createTime.rfc3339
        key("createTime")
        string(createTime)
        key("updateTime")
        string(document.updateTime == document.createTime ? createTime : document.updateTime.rfc3339)
        endObject()
    }

    /// Writes an entry of a list. A missing document has only a name.
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

    /// Writes a `WriteResult`.
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
