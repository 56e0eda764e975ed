/// A condition on one field, made ready to be asked of many documents.
package struct Predicate: Hashable, Sendable {
    /// The field; ``FieldPath/documentName`` for the document's path, whose value is a reference.
    package let field: FieldPath
    /// What its value must fulfil.
    package let test: Test

    /// What a value must fulfil. No test is passed by a field that a document lacks.
    package enum Test: Hashable, Sendable {
        /// Equal to one of these, of which there is at least one.
        case equals(DistinctValues)
        /// Not null, and equal to none of these.
        case differs(DistinctValues)
        /// Between two bounds, or on one side of one.
        case range(ValueRange)
        /// An array with an element that equals one of these, of which there is at least one.
        case contains(DistinctValues)
        /// A point in a circle.
        case near(GeoCircle)
        /// A point in a box.
        case within(GeoBox)
    }

    /// Whether a document with these fields passes.
    package func matches(_ fields: MapValue, at path: DocumentPath) -> Bool {
        fields.value(of: field, ofDocumentAt: path).map { test.passes($0) } ?? false
    }
}

extension Predicate.Test {
    /// Makes the test of a condition; nil for one that no value passes.
    init?(_ condition: Condition) {
        switch condition {
        case .equal(let value):
            self = .equals(DistinctValues(queried: [value]))
        case .in(let values):
            guard let values = Self.findable(values) else { return nil }
            self = .equals(values)
        case .notEqual(let value):
            self = .differs(DistinctValues(queried: [value]))
        case .notIn(let values):
            guard !values.contains(.null) else { return nil }
            self = .differs(DistinctValues(queried: values))
        case .less(let value):
            self = .range(ValueRange(upTo: value, isInclusive: false))
        case .lessOrEqual(let value):
            self = .range(ValueRange(upTo: value, isInclusive: true))
        case .greater(let value):
            self = .range(ValueRange(from: value, isInclusive: false))
        case .greaterOrEqual(let value):
            self = .range(ValueRange(from: value, isInclusive: true))
        case .arrayContains(let value):
            guard let values = Self.findable([value]) else { return nil }
            self = .contains(values)
        case .arrayContainsAny(let values):
            guard let values = Self.findable(values) else { return nil }
            self = .contains(values)
        case .near(let circle):
            self = .near(circle)
        case .within(let box):
            self = .within(box)
        }
    }

    /// The values without null and NaN, which lists and arrays are not searched for; nil when none is left.
    private static func findable(_ values: [Value]) -> DistinctValues? {
        let values = values.filter { $0 != .null && !$0.isNaN }
        return values.isEmpty ? nil : DistinctValues(queried: values)
    }

    /// Whether a value that a document has passes.
    package func passes(_ value: Value) -> Bool {
        switch self {
        case .equals(let values):
            return values.contains(value)
        case .differs(let values):
            return value != .null && !values.contains(value)
        case .range(let range):
            return range.contains(value)
        case .contains(let values):
            guard case .array(let elements) = value else { return false }
            return elements.contains { values.contains($0) }
        case .near(let circle):
            guard case .geoPoint(let point) = value else { return false }
            return circle.contains(point)
        case .within(let box):
            guard case .geoPoint(let point) = value else { return false }
            return box.contains(point)
        }
    }
}

extension DistinctValues {
    /// Values as queries see them.
    fileprivate init(queried values: [Value]) {
        self.init(values, seeing: DocumentLimits.queriedValueBytes)
    }
}
