import DocumentModel
import FirestoreProto
import Foundation
import StrictJSON
import SwiftProtobuf
import UTF8Text

// Values in the JSON form of Protocol Buffers.

extension ProtoDocument {
    /// Writes a document: `{"name": …, "fields": {…}, "createTime": …, "updateTime": …}`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.fields(fields)
        if hasCreateTime {
            writer.key("createTime")
            writer.time(createTime)
        }
        if hasUpdateTime {
            writer.key("updateTime")
            writer.time(updateTime)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    mutating func array<Element>(_ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
        beginArray()
        for element in elements { write(element, &self) }
        endArray()
    }

    mutating func base64(_ bytes: Data) {
        string(Base64.standard.encode(Array(bytes)))
    }

    /// Writes a time of the server, all of which are valid.
    mutating func time(_ time: Google_Protobuf_Timestamp) {
        string((try? Timestamp(time))?.rfc3339 ?? "")
    }

    /// Writes a value: `{"integerValue": "1"}`.
    mutating func value(_ value: ProtoValue) {
        beginObject()
        switch value.valueType {
        case .nullValue:
            key("nullValue")
            null()
        case .booleanValue(let value):
            key("booleanValue")
            boolean(value)
        case .integerValue(let value):
            key("integerValue")
            string(String(value))
        case .doubleValue(let value):
            key("doubleValue")
            if value.isFinite { double(value) } else { string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity") }
        case .timestampValue(let value):
            key("timestampValue")
            time(value)
        case .stringValue(let value):
            key("stringValue")
            string(value)
        case .bytesValue(let value):
            key("bytesValue")
            base64(value)
        case .referenceValue(let value):
            key("referenceValue")
            string(value)
        case .geoPointValue(let value):
            key("geoPointValue")
            beginObject()
            key("latitude")
            double(value.latitude)
            key("longitude")
            double(value.longitude)
            endObject()
        case .arrayValue(let value):
            key("arrayValue")
            beginObject()
            if !value.values.isEmpty {
                key("values")
                array(value.values) { value, writer in writer.value(value) }
            }
            endObject()
        case .mapValue(let value):
            key("mapValue")
            beginObject()
            fields(value.fields)
            endObject()
        case nil:
            break
        }
        endObject()
    }

    /// Writes the member `fields`, unless there are none.
    fileprivate mutating func fields(_ entries: [ProtoFieldEntry]) {
        guard !entries.isEmpty else { return }
        key("fields")
        beginObject()
        for entry in entries {
            key(UTF8Key(entry.key))
            value(entry.value)
        }
        endObject()
    }
}
