import DocumentModel

extension Filter {
    /// Firestore's operators, one by one.
    func isFulfilled(by document: Document, in source: Query.Source) -> Bool {
        switch self {
        case .and(let filters):
            return filters.allSatisfy { $0.isFulfilled(by: document, in: source) }
        case .or(let filters):
            return filters.contains { $0.isFulfilled(by: document, in: source) }
        case .field(let field, let condition):
            guard let value = document.plainValue(field) else { return false }
            return condition.isFulfilled(by: value) { field.isName ? source.named($0) : $0 }
        }
    }
}

extension Condition {
    fileprivate func isFulfilled(by value: Value, named: (Value) -> Value) -> Bool {
        func equal(_ operand: Value) -> Bool { PlainOrder.compare(value, named(operand)) == 0 }
        func ordered(_ operand: Value, _ test: (Int) -> Bool) -> Bool {
            let operand = named(operand)
            return PlainOrder.rank(value) == PlainOrder.rank(operand) && !value.isPlainNaN && value != .null
                && test(PlainOrder.compare(value, operand))
        }
        func isFindable(_ operand: Value) -> Bool { operand != .null && !operand.isPlainNaN }
        func holds(_ operands: [Value]) -> Bool {
            guard case .array(let elements) = value else { return false }
            return elements.contains { element in
                operands.contains { isFindable($0) && PlainOrder.compare(element, $0) == 0 }
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
        case .arrayContains(let operand): return holds([operand])
        case .arrayContainsAny(let operands): return holds(operands)
        case .near(let circle):
            guard case .geoPoint(let point) = value else { return false }
            return PlainGeometry.distance(circle.center, point) <= circle.radius
        case .within(let box):
            guard case .geoPoint(let point) = value else { return false }
            return PlainGeometry.isInside(point, box)
        }
    }
}

extension Value {
    var isPlainNaN: Bool {
        if case .double(let number) = self { number.isNaN } else { false }
    }
}
