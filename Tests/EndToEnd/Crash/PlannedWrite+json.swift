import DocumentModel
import StrictJSON

extension PlannedWrite {
    /// Writes an element of the `writes` of `documents.commit`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(fields == nil ? "delete" : "set")
        writer.beginObject()
        writer.key("path")
        writer.string(path.string)
        if let fields {
            writer.key("fields")
            fields.write(to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }
}
