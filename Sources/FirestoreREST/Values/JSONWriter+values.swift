package import DocumentModel
package import StrictJSON

extension JSONWriter {
    /// Writes a value as the protocol's JSON: `{"integerValue":"816"}`.
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
            writeElements(elements, isEmpty: elements.isEmpty) { element, writer in writer.write(element, in: database) }
        case .vector(let elements):
            key("mapValue")
            writeVector(elements)
        case .map(let members):
            key("mapValue")
            writeFields(members, isEmpty: members.isEmpty) { value, writer in writer.write(value, in: database) }
        }
        endObject()
    }

    /// Writes a value that is kept in Hearth's own JSON form, which gives the most of it without being looked into.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for what is not of that form.
    mutating func write(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        if node.isTagged { return write(try Value(json: node), in: database) }
        beginObject()
        switch node.kind {
        case .null:
            key("nullValue")
            null()
        case .boolean:
            key("booleanValue")
            raw(node.rawBytes)
        case .number:
            if case .integer(let value)? = node.number {
                key("integerValue")
                string(String(value))
            } else {
                key("doubleValue")
                raw(node.rawBytes)
            }
        case .string:
            key("stringValue")
            raw(node.rawBytes)
        case .array:
            key("arrayValue")
            if let elements = node.elements {
                try writeElements(elements, isEmpty: node.count == 0) { element, writer throws(StatusError) in
                    try writer.write(element, in: database)
                }
            }
        case .object:
            key("mapValue")
            if let members = node.members {
                try writeFields(members, isEmpty: node.count == 0) { member, writer throws(StatusError) in
                    try writer.write(member, in: database)
                }
            }
        }
        endObject()
    }

    /// Writes `{"values":[…]}`, and what is empty as `{}`, as the protocol leaves out what is empty.
    private mutating func writeElements<Element, Failure: Error>(
        _ elements: some Sequence<Element>,
        isEmpty: Bool,
        _ write: (Element, inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        if !isEmpty {
            key("values")
            beginArray()
            for element in elements { try write(element, &self) }
            endArray()
        }
        endObject()
    }

    /// Writes `{"fields":{…}}`, and what is empty as `{}`.
    private mutating func writeFields<Member, Failure: Error>(
        _ members: some Sequence<(key: UTF8Key, value: Member)>,
        isEmpty: Bool,
        _ write: (Member, inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginObject()
        if !isEmpty {
            key("fields")
            beginObject()
            for (name, value) in members {
                key(name)
                try write(value, &self)
            }
            endObject()
        }
        endObject()
    }

    /// Writes a vector in its reserved form as a map.
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
        writeElements(elements, isEmpty: elements.isEmpty) { element, writer in
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

extension JSONNode {
    /// Whether an object of Hearth's JSON form stands for another value than the map that it looks like.
    fileprivate var isTagged: Bool {
        guard kind == .object, count == 1, var members, let (key, _) = members.next() else { return false }
        return key.utf8.first == UInt8(ascii: "$")
    }
}
