internal import UTF8Text

extension Meter {
    /// Calls a function of a map.
    mutating func callMap(
        _ function: ValueFunction,
        _ map: RuleMap,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        if function == .get { return try get(arguments[0], in: map, default: arguments[1]) }
        // A query does not tell all fields of the documents that it finds.
        guard map.symbolic == nil else { throw EvaluationError(.unknown) }
        switch (function, arguments.first) {
        case (.size, _):
            return .integer(Int64(map.count))
        case (.keys, _):
            return try charged(.list(RuleList(map.keys.map(RuleValue.string))))
        case (.values, _):
            return try charged(.list(RuleList(map.members.map(\.value))))
        case (.diff, .map(let before)):
            guard map.isConcrete, before.isConcrete else { throw EvaluationError(.unknown) }
            return .mapDiff(MapDiff(after: map, before: before))
        case (.diff, _):
            throw unsupported(function, .map, arguments, expecting: "map")
        default:
            throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// Returns the value at a key or at a path of keys, or a default if a step fails.
    private mutating func get(
        _ key: RuleValue,
        in map: RuleMap,
        default defaultValue: RuleValue
    ) throws(EvaluationError) -> RuleValue {
        let keys: [RuleValue]
        switch key {
        case .string: keys = [key]
        case .list(let list) where list.count > 0: keys = list.elements
        default: throw unsupported(.get, .map, [key, defaultValue], expecting: "string or list, any")
        }
        try charge(keys.count)
        var value = RuleValue.map(map)
        for key in keys {
            guard case .string(let name) = key else {
                throw unsupported(.get, .map, [key, defaultValue], expecting: "string or list of strings, any")
            }
            switch value {
            case .map(let map):
                if let symbolic = map.symbolic {
                    guard let member = symbolic[name] else { throw EvaluationError(.unknown) }
                    value = member
                } else {
                    guard let member = map[name] else { return defaultValue }
                    value = member
                }
            case .symbolic:
                throw EvaluationError(.unknown)
            default:
                return defaultValue
            }
        }
        return value
    }

    /// Calls a function of the difference of two maps.
    mutating func callMapDiff(
        _ function: ValueFunction,
        _ diff: MapDiff,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        guard diff.after.isConcrete, diff.before.isConcrete else { throw EvaluationError(.unknown) }
        try charge(diff.after.weight + diff.before.weight)
        switch function {
        case .addedKeys: return .set(diff.keys { before, _ in before == nil })
        case .removedKeys: return .set(diff.keys { _, after in after == nil })
        case .changedKeys: return .set(diff.keys { before, after in before != nil && after != nil && before != after })
        case .unchangedKeys: return .set(diff.keys { before, after in before == after })
        case .affectedKeys: return .set(diff.keys { before, after in before != after })
        default: throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// Calls a function of a path.
    mutating func callPath(
        _ function: ValueFunction,
        _ path: RulePath,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        guard function == .bind else { throw EvaluationError(.functionNotFound(function.rawValue)) }
        guard case .map(let values) = arguments[0] else { throw unsupported(function, .path, arguments, expecting: "map") }
        guard values.isConcrete else { throw EvaluationError(.unknown) }
        try charge(path.segments.count)
        guard let bound = path.bound(to: values) else { throw EvaluationError(.invalidArgument(function: "bind", arguments[0])) }
        return .path(bound)
    }
}
