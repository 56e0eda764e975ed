internal import UTF8Text

extension Meter {
    /// Calls a function of a list.
    mutating func callList(
        _ function: ValueFunction,
        _ list: RuleList,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        if function == .size { return .integer(Int64(list.count)) }
        guard list.isConcrete, arguments.allSatisfy(\.isConcrete) else { throw EvaluationError(.unknown) }
        try charge(list.weight)
        switch (function, arguments.first) {
        case (.toSet, _):
            return .set(RuleSet(list.elements))
        case (.concat, .list(let other)):
            try charge(other.weight)
            return .list(RuleList(list.elements + other.elements))
        case (.removeAll, .list(let other)):
            try charge(other.weight)
            let removed = RuleSet(other.elements)
            return .list(RuleList(list.elements.filter { !removed.contains($0) }))
        case (.hasAll, .list(let other)), (.hasAny, .list(let other)), (.hasOnly, .list(let other)):
            try charge(other.weight)
            return .boolean(function.test(RuleSet(list.elements), RuleSet(other.elements)))
        case (.join, .string(let separator)):
            return .string(try join(list, separator))
        case (.join, _):
            throw unsupported(function, .list, arguments, expecting: "string")
        case (.concat, _), (.removeAll, _), (.hasAll, _), (.hasAny, _), (.hasOnly, _):
            throw unsupported(function, .list, arguments, expecting: "list")
        default:
            throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    private mutating func join(_ list: RuleList, _ separator: UTF8Key) throws(EvaluationError) -> UTF8Key {
        var text = ""
        for (index, element) in list.elements.enumerated() {
            if index > 0 {
                try charge(separator.byteCount)
                text += separator.string
            }
            guard case .string(let item) = try convert(element, by: .string) else { continue }
            try charge(item.byteCount)
            text += item.string
        }
        return UTF8Key(text)
    }

    /// Calls a function of a set.
    mutating func callSet(
        _ function: ValueFunction,
        _ set: RuleSet,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        if function == .size { return .integer(Int64(set.count)) }
        guard arguments.allSatisfy(\.isConcrete) else { throw EvaluationError(.unknown) }
        try charge(set.weight + (arguments.first?.weight ?? 0))
        switch (function, arguments.first) {
        case (.hasAll, .list(let other)), (.hasAny, .list(let other)), (.hasOnly, .list(let other)):
            return .boolean(function.test(set, RuleSet(other.elements)))
        case (.hasAll, .set(let other)), (.hasAny, .set(let other)), (.hasOnly, .set(let other)):
            return .boolean(function.test(set, other))
        case (.union, .set(let other)):
            return .set(RuleSet(set.elements + other.elements))
        case (.intersection, .set(let other)):
            return .set(RuleSet(set.elements.filter(other.contains)))
        case (.difference, .set(let other)):
            return .set(RuleSet(set.elements.filter { !other.contains($0) }))
        case (.hasAll, _), (.hasAny, _), (.hasOnly, _):
            throw unsupported(function, .set, arguments, expecting: "list or set")
        case (.union, _), (.intersection, _), (.difference, _):
            throw unsupported(function, .set, arguments, expecting: "set")
        default:
            throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }
}

extension ValueFunction {
    /// Returns the result of `hasAll`, `hasAny` or `hasOnly`.
    fileprivate func test(_ values: RuleSet, _ others: RuleSet) -> Bool {
        switch self {
        case .hasAll: others.elements.allSatisfy(values.contains)
        case .hasAny: others.elements.contains(where: values.contains)
        default: values.elements.allSatisfy(others.contains)
        }
    }
}
