package import DocumentModel
package import StrictJSON

/// A document that is on disk and can't be read: it is left untouched, and reported where it would be listed.
package struct DamagedDocument: Sendable {
    /// What is wrong, and in which file.
    package let error: StatusError

    /// Writes `{"message": …, "path"?: …, "file"?: {path, line, column}}`.
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
            writer.key("line")
            writer.integer(Int64(file.line))
            writer.key("column")
            writer.integer(Int64(file.column))
            writer.endObject()
        }
    }
}
