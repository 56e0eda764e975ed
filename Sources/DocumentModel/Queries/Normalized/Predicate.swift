/// A normalized condition on a field.
package struct Predicate: Hashable, Sendable {
    /// The field, or ``FieldPath/documentName``, whose value is a reference.
    package let field: FieldPath
    /// The test of its value.
    package let test: Test

    /// A test of a value. A missing field passes no test.
    package enum Test: Hashable, Sendable {
        /// Equal to one of the values; the set is not empty.
        case equals(ValueSet)
        /// Not null, and not equal to any of the values.
        case differs(ValueSet)
        /// In the range.
        case range(ValueRange)
        /// An array with an element equal to one of the values; the set is not empty.
        case contains(ValueSet)
        /// A geo point in the circle.
        case near(GeoCircle)
        /// A geo point in the box.
        case within(GeoBox)
    }

    /// Returns whether a document matches.
    package func matches(_ fields: MapValue, at path: DocumentPath) -> Bool {
        fields.value(of: field, ofDocumentAt: path).map { test.passes($0) } ?? false
    }
}

extension Predicate.Test {
    /// Creates the test of a condition, or returns `nil` if it is unsatisfiable.
    init?(_ condition: Condition) {
        switch condition {
        case .equal(let value):
            self = .equals(ValueSet(truncating: [value]))
        case .in(let values):
            guard let values = Self.matchable(values) else { return nil }
            self = .equals(values)
        case .notEqual(let value):
            self = .differs(ValueSet(truncating: [value]))
        case .notIn(let values):
            guard !values.contains(.null) else { return nil }
            self = .differs(ValueSet(truncating: values))
        case .less(let value):
            self = .range(ValueRange(upTo: value, isInclusive: false))
        case .lessOrEqual(let value):
            self = .range(ValueRange(upTo: value, isInclusive: true))
        case .greater(let value):
            self = .range(ValueRange(from: value, isInclusive: false))
        case .greaterOrEqual(let value):
            self = .range(ValueRange(from: value, isInclusive: true))
        case .arrayContains(let value):
            guard let values = Self.matchable([value]) else { return nil }
            self = .contains(values)
        case .arrayContainsAny(let values):
            guard let values = Self.matchable(values) else { return nil }
            self = .contains(values)
        case .near(let circle):
            self = .near(circle)
        case .within(let box):
            self = .within(box)
        }
    }

    /// Returns the values without null and NaN, which membership tests never match, or `nil` if none is left.
    private static func matchable(_ values: [Value]) -> ValueSet? {
        let values = values.filter { $0 != .null && !$0.isNaN }
        return values.isEmpty ? nil : ValueSet(truncating: values)
    }

    /// Returns whether a value passes the test.
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

extension ValueSet {
    /// Creates a set of values truncated as in queries.
    fileprivate init(truncating values: [Value]) {
        self.init(values, truncatingAt: DocumentLimits.indexedValueBytes)
    }
}
