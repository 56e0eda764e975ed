internal import DocumentModel
internal import StrictJSON
package import UTF8Text

/// The members of a filter: `{"field", "op", "value"}`, `{"and"}` or `{"or"}`.
package enum FilterKeys {
    package static let field: UTF8Key = "field"
    package static let op: UTF8Key = "op"
    package static let value: UTF8Key = "value"
    package static let and: UTF8Key = "and"
    package static let or: UTF8Key = "or"
}

/// The members of the operand of `near`: `{"center", "radius"}`.
package enum CircleKeys {
    package static let center: UTF8Key = "center"
    package static let radius: UTF8Key = "radius"
}

/// The members of the operand of `within`: `{"southWest", "northEast"}`.
package enum BoxKeys {
    package static let southWest: UTF8Key = "southWest"
    package static let northEast: UTF8Key = "northEast"
}

extension QueryFilter {
    /// Writes the filter.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .field(let field, let condition):
            writer.member(FilterKeys.field, field.description)
            writer.member(FilterKeys.op, condition.operator.rawValue)
            writer.key(FilterKeys.value)
            condition.writeOperand(to: &writer)
        case .and(let filters): writer.array(FilterKeys.and, of: filters) { $0.write(to: &$1) }
        case .or(let filters): writer.array(FilterKeys.or, of: filters) { $0.write(to: &$1) }
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
            writer.key(CircleKeys.center)
            Value.geoPoint(circle.center).write(to: &writer)
            writer.key(CircleKeys.radius)
            Value.double(circle.radius).write(to: &writer)
            writer.endObject()
        case .within(let box):
            writer.beginObject()
            writer.key(BoxKeys.southWest)
            Value.geoPoint(box.southWest).write(to: &writer)
            writer.key(BoxKeys.northEast)
            Value.geoPoint(box.northEast).write(to: &writer)
            writer.endObject()
        }
    }
}
