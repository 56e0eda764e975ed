// The functions of values are methods of the meter, which is all that they change.
extension Meter {
    /// Calls a function of a value.
    ///
    /// - Parameter expression: The regular expression of the first argument, if it is constant.
    mutating func call(
        _ function: ValueFunction,
        on base: RuleValue,
        _ arguments: [RuleValue],
        _ expression: RegularExpression?
    ) throws(EvaluationError) -> RuleValue {
        switch base {
        case .null: throw EvaluationError(.nullValue)
        case .string(let text): return try callString(function, text, arguments, expression)
        case .bytes(let bytes): return try callBytes(function, bytes, arguments)
        case .list(let list): return try callList(function, list, arguments)
        case .set(let set): return try callSet(function, set, arguments)
        case .map(let map): return try callMap(function, map, arguments)
        case .mapDiff(let diff): return try callMapDiff(function, diff, arguments)
        case .path(let path): return try callPath(function, path, arguments)
        case .timestamp(let timestamp): return try callTimestamp(function, timestamp)
        case .duration(let duration): return try callDuration(function, duration)
        case .latlng(let point): return try callLatLng(function, point, arguments)
        case .symbolic(let value): return try callSymbolic(function, value, arguments)
        case .boolean, .integer, .float: throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    /// The error for a function that does not accept its arguments.
    func unsupported(
        _ function: ValueFunction,
        _ base: RuleType,
        _ arguments: [RuleValue],
        expecting expected: String
    ) -> EvaluationError {
        if arguments.contains(where: { if case .symbolic = $0 { true } else { false } }) { return EvaluationError(.unknown) }
        if arguments.contains(where: { if case .null = $0 { true } else { false } }) { return EvaluationError(.nullValue) }
        return EvaluationError(
            .unsupportedOperation(
                received: .call(function.rawValue, base, arguments.map(\.type)),
                expected: "\(base.rawValue).\(function.rawValue)(\(expected))"
            )
        )
    }

    /// Charges the weight of a new value.
    mutating func charged(_ value: RuleValue) throws(EvaluationError) -> RuleValue {
        try charge(value.weight)
        return value
    }
}
