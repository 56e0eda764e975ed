public import StrictJSON
internal import UTF8Text

extension Value {
    /// Writes the JSON representation of the value. Decoding it returns a bitwise equal value.
    ///
    /// The recursion is as deep as the nesting, which is at most 20 levels in a valid document.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .boolean(let value): writer.boolean(value)
        case .integer(let value): writer.integer(value)
        case .double(let value): writer.write(value)
        case .string(let value): writer.string(value)
        case .map(let value): value.write(to: &writer)
        case .array(let value):
            writer.beginArray()
            for element in value { element.write(to: &writer) }
            writer.endArray()
        case .timestamp(let value): writer.tagged(.timestamp) { $0.string(value.rfc3339) }
        case .bytes(let value): writer.tagged(.bytes) { $0.string(Base64.standard.encode(value)) }
        case .reference(let value): writer.tagged(.reference) { $0.string(value.string) }
        case .geoPoint(let value):
            writer.tagged(.geoPoint) { writer in
                writer.beginObject()
                writer.key("latitude")
                writer.double(value.latitude)
                writer.key("longitude")
                writer.double(value.longitude)
                writer.endObject()
            }
        case .vector(let value):
            writer.tagged(.vector) { writer in
                writer.beginArray()
                for element in value { writer.write(element) }
                writer.endArray()
            }
        }
    }
}

extension MapValue {
    /// Writes the map as an object with sorted names, or as `{"$map": {…}}` if a name begins with `$`.
    public func write(to writer: inout JSONWriter) {
        if contains(where: \.key.beginsWithDollar) {
            writer.tagged(.map) { writeMembers(to: &$0) }
        } else {
            writeMembers(to: &writer)
        }
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in self {
            writer.key(key)
            value.write(to: &writer)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func tagged(_ tag: ValueTag, _ payload: (inout JSONWriter) -> Void) {
        beginObject()
        key(tag.key)
        payload(&self)
        endObject()
    }

    /// Writes a double, tagged if it is not finite.
    fileprivate mutating func write(_ value: Double) {
        if value.isFinite {
            double(value)
        } else {
            tagged(.double) { $0.string(value.isNaN ? "NaN" : value > 0 ? "Infinity" : "-Infinity") }
        }
    }
}
