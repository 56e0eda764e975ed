package import DocumentModel
package import StrictJSON

/// Something on disk that can't be read as a document or a collection: it is left untouched, and reported where it would be
/// listed.
package struct DamagedDocument: Sendable {
    /// What is wrong, and with which file or folder.
    package let error: StatusError

    /// Writes `{"message": …, "path"?: …, "file"?: {path, line?, column?}}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// Writes the members alone, for an object that has others.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.key("message")
        writer.string(error.message)
        if let path = error.path {
            writer.key("path")
            writer.string(path)
        }
        if let file = error.file {
            writer.key("file")
            writer.beginObject()
            writer.key("path")
            writer.string(file.path)
            if let line = file.line, let column = file.column {
                writer.key("line")
                writer.integer(Int64(line))
                writer.key("column")
                writer.integer(Int64(column))
            }
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// Writes the member `damaged` of a page, unless there is nothing.
    mutating func damaged(_ documents: [DamagedDocument]) {
        guard !documents.isEmpty else { return }
        key("damaged")
        beginArray()
        for document in documents { document.write(to: &self) }
        endArray()
    }
}
