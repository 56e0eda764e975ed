extension Evaluator {
    /// Evaluates `&&` or `||`. Both are commutative over errors: an operand with the deciding value decides, whatever the other
    /// one is.
    ///
    /// - Parameter deciding: False for `&&`, true for `||`.
    mutating func evaluateLogic(
        _ left: NodeID,
        _ right: NodeID,
        deciding: Bool
    ) throws(EvaluationError) -> RuleValue {
        let name = deciding ? "||" : "&&"
        let first = try attempt(left, operator: name)
        if case .success(deciding) = first { return .boolean(deciding) }
        try meter.count()
        let second = try attempt(right, operator: name)
        if case .success(deciding) = second { return .boolean(deciding) }
        _ = try first.get()
        return .boolean(try second.get())
    }

    /// Evaluates an operand, and returns its error unless that ends the evaluation.
    private mutating func attempt(
        _ operand: NodeID,
        operator name: String
    ) throws(EvaluationError) -> Result<Bool, EvaluationError> {
        do throws(EvaluationError) {
            return .success(try condition(operand, operator: name))
        } catch {
            if error.isFatal { throw error }
            return .failure(error)
        }
    }

    /// Evaluates an expression as a condition. There is no truthiness: anything but a boolean is an error.
    @inline(never)
    mutating func condition(_ id: NodeID, operator name: String) throws(EvaluationError) -> Bool {
        switch try evaluate(id) {
        case .boolean(let value): return value
        case .null: throw EvaluationError(.nullValue)
        case .symbolic: throw EvaluationError(.unknown)
        case let value:
            throw EvaluationError(.unsupportedOperation(received: .prefix(name, value.type), expected: "\(name)bool"))
        }
    }
}
