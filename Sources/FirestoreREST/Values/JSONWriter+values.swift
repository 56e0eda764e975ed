package import DocumentModel
import FirestoreAPI
package import FirestoreMessages
package import StrictJSON
import UTF8Text

extension JSONWriter {
    /// Writes a value in the protocol's JSON form: `{"integerValue":"816"}`.
    package mutating func write(_ value: Value, in database: DatabaseName) {
        beginObject()
        switch value {
        case .null:
            key("nullValue")
            null()
        case .boolean(let value):
            key("booleanValue")
            boolean(value)
        case .integer(let value):
            key("integerValue")
            string(String(value))
        case .double(let value):
            key("doubleValue")
            writeDouble(value)
        case .timestamp(let value):
            key("timestampValue")
            string(value.rfc3339)
        case .string(let value):
            key("stringValue")
            string(value)
        case .bytes(let value):
            key("bytesValue")
            string(Base64.standard.encode(value))
        case .reference(let value):
            key("referenceValue")
            string(database.name(of: value))
        case .geoPoint(let value):
            key("geoPointValue")
            beginObject()
            key("latitude")
            double(value.latitude)
            key("longitude")
            double(value.longitude)
            endObject()
        case .array(let elements):
            key("arrayValue")
            writeElements(elements) { element, writer in writer.write(element, in: database) }
        case .vector(let elements):
            key("mapValue")
            writeVector(elements)
        case .map(let members):
            key("mapValue")
            writeFields(members, in: database)
        }
        endObject()
    }

    /// Writes `{"values":[…]}`, or `{}` when empty: ProtoJSON omits empty fields.
    private mutating func writeElements<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        beginObject()
        if !elements.isEmpty {
            key("values")
            beginArray()
            for element in elements { write(element, &self) }
            endArray()
        }
        endObject()
    }

    /// Writes `{"fields":{…}}`, or `{}` when empty.
    private mutating func writeFields(_ members: MapValue, in database: DatabaseName) {
        beginObject()
        if !members.isEmpty {
            key("fields")
            beginObject()
            for (name, value) in members {
                key(name)
                write(value, in: database)
            }
            endObject()
        }
        endObject()
    }

    /// Writes a vector as a map with the reserved key `__type__`.
    private mutating func writeVector(_ elements: [Double]) {
        beginObject()
        key("fields")
        beginObject()
        key("__type__")
        beginObject()
        key("stringValue")
        string("__vector__")
        endObject()
        key("value")
        beginObject()
        key("arrayValue")
        writeElements(elements) { element, writer in
            writer.beginObject()
            writer.key("doubleValue")
            writer.writeDouble(element)
            writer.endObject()
        }
        endObject()
        endObject()
        endObject()
    }

    private mutating func writeDouble(_ value: Double) {
        if value.isFinite {
            double(value)
        } else {
            string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity")
        }
    }
}
