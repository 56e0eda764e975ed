internal import DocumentModel
internal import StrictJSON

extension QueryFilter {
    /// Writes the filter in the format of `query.run`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .field(let field, let condition):
            writer.member("field", field.description)
            writer.member("op", condition.operator.rawValue)
            writer.key("value")
            condition.writeOperand(to: &writer)
        case .and(let filters): writer.array("and", of: filters) { $1.write(to: &$0) }
        case .or(let filters): writer.array("or", of: filters) { $1.write(to: &$0) }
        }
        writer.endObject()
    }
}

extension Condition {
    fileprivate func writeOperand(to writer: inout JSONWriter) {
        switch self {
        case .equal(let value), .notEqual(let value), .less(let value), .lessOrEqual(let value), .greater(let value),
            .greaterOrEqual(let value), .arrayContains(let value):
            value.write(to: &writer)
        case .in(let values), .notIn(let values), .arrayContainsAny(let values):
            writer.beginArray()
            for value in values { value.write(to: &writer) }
            writer.endArray()
        case .near(let circle):
            writer.beginObject()
            writer.key("center")
            Value.geoPoint(circle.center).write(to: &writer)
            writer.key("radius")
            Value.double(circle.radius).write(to: &writer)
            writer.endObject()
        case .within(let box):
            writer.beginObject()
            writer.corner("southWest", latitude: box.south, longitude: box.west)
            writer.corner("northEast", latitude: box.north, longitude: box.east)
            writer.endObject()
        }
    }
}

extension JSONWriter {
    fileprivate mutating func corner(_ name: StaticString, latitude: Double, longitude: Double) {
        key(name)
        Value.geoPoint(GeoPoint(latitude: latitude, longitude: longitude)).write(to: &self)
    }
}
