extension Meter {
    /// Calls a function of a value of which a query tells only facts.
    mutating func callSymbolic(
        _ function: ValueFunction,
        _ value: SymbolicValue,
        _ arguments: [RuleValue]
    ) throws(EvaluationError) -> RuleValue {
        guard case .list(let list)? = arguments.first else { throw EvaluationError(.unknown) }
        try charge(list.weight)
        let isProved =
            switch function {
            case .hasAll where value.type == .list: list.elements.allSatisfy(value.contains)
            case .hasAny: list.elements.contains(where: value.contains)
            default: false
            }
        guard isProved else { throw EvaluationError(.unknown) }
        return .boolean(true)
    }
}
