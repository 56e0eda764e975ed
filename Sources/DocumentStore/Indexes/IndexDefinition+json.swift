internal import DocumentModel
package import StrictJSON
internal import UTF8Text

extension IndexDefinition {
    /// Writes the definition as members of an object: `"collection": …, "fields": [{"field": …, "direction": …}, …]`.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.key("collection")
        writer.string(collection.key.string)
        writer.key("fields")
        writer.fields(fields)
    }
}

extension IndexExemption {
    /// Writes the exemption as an object: `{"collection": …, "field": …}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("collection")
        writer.string(collection.key.string)
        writer.key("field")
        writer.string(field.description)
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes the fields of an index.
    package mutating func fields(_ fields: [IndexDefinition.Field]) {
        beginArray()
        for field in fields {
            beginObject()
            key("field")
            string(field.field.description)
            key("direction")
            string(field.direction == .ascending ? "asc" : "desc")
            endObject()
        }
        endArray()
    }
}
