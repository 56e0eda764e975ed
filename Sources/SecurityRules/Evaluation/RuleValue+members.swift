internal import UTF8Text

extension RuleValue {
    /// Returns a member of a map, or a bound name of a path.
    func member(_ name: UTF8Key) throws(EvaluationError) -> RuleValue {
        switch self {
        case .map(let map):
            if let symbolic = map.symbolic {
                // The emulator's messages for fields that a query does not tell, without filters and with others.
                guard let value = symbolic[name] else {
                    throw EvaluationError(symbolic.isEmpty ? .nullValue : .undefinedProperty(name))
                }
                return value
            }
            guard let value = map[name] else { throw EvaluationError(.undefinedProperty(name)) }
            return value
        case .path(let path):
            guard let value = path.binding(named: name) else { throw EvaluationError(.undefinedProperty(name)) }
            return .string(value)
        case .null:
            throw EvaluationError(.nullValue)
        case .symbolic:
            throw EvaluationError(.unknown)
        default:
            throw EvaluationError(.undefinedProperty(name))
        }
    }

    /// Returns the result of `is`.
    func isOf(_ expected: RuleType) throws(EvaluationError) -> Bool {
        guard case .symbolic = self else { return type.isSubtype(of: expected) }
        if type.isSubtype(of: expected) { return true }
        guard type.isDisjoint(from: expected) else { throw EvaluationError(.unknown) }
        return false
    }
}

extension Evaluator {
    /// Returns the element of a list or path, the character of a string or the member of a map.
    mutating func element(of base: RuleValue, at index: RuleValue) throws(EvaluationError) -> RuleValue {
        switch (base, index) {
        case (.null, _), (_, .null):
            throw EvaluationError(.nullValue)
        case (.symbolic, _), (_, .symbolic):
            throw EvaluationError(.unknown)
        case (.map, .string(let name)), (.path, .string(let name)):
            return try base.member(name)
        case (.list(let list), .integer(let index)):
            return list[try valid(index, size: list.count)]
        case (.path(let path), .integer(let index)):
            guard let segment = path.segments[try valid(index, size: path.segments.count)] else {
                throw EvaluationError(.unknown)
            }
            return .string(segment)
        case (.string(let text), .integer(let index)):
            try meter.charge(text.byteCount)
            let scalars = text.string.unicodeScalars
            let position = try valid(index, size: scalars.count)
            return .string(UTF8Key(String(scalars[scalars.index(scalars.startIndex, offsetBy: position)])))
        default:
            throw EvaluationError(
                .unsupportedOperation(
                    received: .call("[]", base.type, [index.type]),
                    expected: "list[int], string[int], path[int], path[string] or map[string]"
                )
            )
        }
    }

    private func valid(_ index: Int64, size: Int) throws(EvaluationError) -> Int {
        guard index >= 0, index < size else { throw EvaluationError(.indexOutOfBounds(index, size: size)) }
        return Int(index)
    }

    /// Returns a part of a list or string. The checks and their order are Firestore's: nothing is clamped, and a range that ends
    /// before the first element is an error.
    mutating func slice(
        of base: RuleValue,
        from: RuleValue,
        to: RuleValue
    ) throws(EvaluationError) -> RuleValue {
        if case .null = base { throw EvaluationError(.nullValue) }
        for case .symbolic in [base, from, to] { throw EvaluationError(.unknown) }
        guard case (.integer(let from), .integer(let to)) = (from, to) else { throw unsupportedSlice(base, from, to) }
        switch base {
        case .list(let list):
            try meter.charge(list.weight)
            return .list(list.slice(try range(from, to, size: list.count)))
        case .string(let text):
            try meter.charge(text.byteCount)
            let scalars = Array(text.string.unicodeScalars)
            let range = try range(from, to, size: scalars.count)
            return .string(UTF8Key(String(String.UnicodeScalarView(scalars[range]))))
        default:
            throw unsupportedSlice(base, .integer(from), .integer(to))
        }
    }

    private func range(_ from: Int64, _ to: Int64, size: Int) throws(EvaluationError) -> Range<Int> {
        guard from >= 0, from < size else { throw EvaluationError(.indexOutOfBounds(from, size: size)) }
        guard to > 0, to <= size else { throw EvaluationError(.indexOutOfBounds(to, size: size)) }
        guard from <= to else { throw EvaluationError(.illegalRange(from: from, to: to)) }
        return Int(from)..<Int(to)
    }

    private func unsupportedSlice(_ base: RuleValue, _ from: RuleValue, _ to: RuleValue) -> EvaluationError {
        EvaluationError(
            .unsupportedOperation(
                received: .call("[:]", base.type, [from.type, to.type]),
                expected: "list[int:int] or string[int:int]"
            )
        )
    }
}
