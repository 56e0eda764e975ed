/// The remainder of the limits of one evaluation.
struct Meter: Sendable {
    private(set) var expressions: Int
    private(set) var work: Int

    init(expressions: Int = RulesLimits.expressions, work: Int = RulesLimits.work) {
        self.expressions = expressions
        self.work = work
    }

    /// Counts expressions.
    mutating func count(_ expressions: Int = 1) throws(EvaluationError) {
        self.expressions -= expressions
        guard self.expressions >= 0 else { throw EvaluationError(.expressionLimit) }
    }

    /// Counts work of a function: bytes, elements or steps.
    mutating func charge(_ work: Int) throws(EvaluationError) {
        self.work -= work
        guard self.work >= 0 else { throw EvaluationError(.workLimit) }
    }
}
