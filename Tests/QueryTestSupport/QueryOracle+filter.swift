import DocumentModel

extension QueryFilter {
    /// Returns whether a document matches the filter.
    func oracleMatches(_ document: Document, in source: StructuredQuery.Source) -> Bool {
        switch self {
        case .and(let filters):
            return filters.allSatisfy { $0.oracleMatches(document, in: source) }
        case .or(let filters):
            return filters.contains { $0.oracleMatches(document, in: source) }
        case .field(let field, let condition):
            guard let value = document.oracleValue(field) else { return false }
            return condition.oracleMatches(value) { field.isOracleName ? source.resolvingName($0) : $0 }
        }
    }
}

extension Condition {
    fileprivate func oracleMatches(_ value: Value, resolvingName: (Value) -> Value) -> Bool {
        func equal(_ operand: Value) -> Bool { OracleOrder.compare(value, resolvingName(operand)) == 0 }
        func ordered(_ operand: Value, _ test: (Int) -> Bool) -> Bool {
            let operand = resolvingName(operand)
            return OracleOrder.rank(value) == OracleOrder.rank(operand) && !value.isOracleNaN && value != .null
                && test(OracleOrder.compare(value, operand))
        }
        func isFindable(_ operand: Value) -> Bool { operand != .null && !operand.isOracleNaN }
        func containsAny(_ operands: [Value]) -> Bool {
            guard case .array(let elements) = value else { return false }
            return elements.contains { element in
                operands.contains { isFindable($0) && OracleOrder.compare(element, $0) == 0 }
            }
        }
        switch self {
        case .equal(let operand): return equal(operand)
        case .notEqual(let operand): return value != .null && !equal(operand)
        case .less(let operand): return ordered(operand) { $0 < 0 }
        case .lessOrEqual(let operand): return ordered(operand) { $0 <= 0 }
        case .greater(let operand): return ordered(operand) { $0 > 0 }
        case .greaterOrEqual(let operand): return ordered(operand) { $0 >= 0 }
        case .in(let operands): return operands.contains { isFindable($0) && equal($0) }
        case .notIn(let operands): return !operands.contains(.null) && value != .null && !operands.contains { equal($0) }
        case .arrayContains(let operand): return containsAny([operand])
        case .arrayContainsAny(let operands): return containsAny(operands)
        case .near(let circle):
            guard case .geoPoint(let point) = value else { return false }
            return OracleGeometry.distance(circle.center, point) <= circle.radius
        case .within(let box):
            guard case .geoPoint(let point) = value else { return false }
            return OracleGeometry.isInside(point, box)
        }
    }
}

extension Value {
    var isOracleNaN: Bool {
        if case .double(let number) = self { number.isNaN } else { false }
    }
}
