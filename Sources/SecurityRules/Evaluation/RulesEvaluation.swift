/// The evaluation of the allow statements for one request.
struct RulesEvaluation {
    private let program: Program
    private let expressionLimit: Int
    private(set) var remainingWork: Int
    private(set) var accesses: AccessCounter
    private(set) var trace: EvaluationTrace?
    /// The statements that granted, one for each disjunct so far.
    private(set) var grants: [SourcePosition] = []
    private var denials: [RulesDecision.Denial] = []
    private var dependsOnTime = false
    private(set) var expressionCount = 0
    private(set) var debugOutput: [String] = []

    init(_ program: Program, _ session: RulesSession) {
        self.program = program
        // A query is limited by its disjuncts, of which there are at most 30.
        expressionLimit = min(RulesLimits.expressions, session.remainingExpressions)
        remainingWork = session.remainingWork
        accesses = AccessCounter(earlier: session.accessedPaths, limit: session.accessLimit)
        trace = session.coverage == nil ? nil : EvaluationTrace()
    }

    /// Tries the allow statements of a method in the order of the text, until one grants.
    ///
    /// - Throws: An error that ends the evaluation for want of a document.
    mutating func isGranted(_ method: RequestMethod, _ inputs: EvaluationInputs) throws(EvaluationError) -> Bool {
        let meter = Meter(expressions: expressionLimit, work: min(RulesLimits.work, remainingWork))
        var evaluator = Evaluator(program, inputs, meter: meter, accesses: accesses, trace: trace)
        defer {
            accesses = evaluator.accesses
            trace = evaluator.trace
            dependsOnTime = dependsOnTime || evaluator.dependsOnTime
            debugOutput += evaluator.debugOutput
            expressionCount += expressionLimit - max(evaluator.meter.expressions, 0)
            remainingWork -= meter.work - max(evaluator.meter.work, 0)
        }
        denials = []
        for allow in program.allows[method] ?? [] {
            guard let captures = program.patterns[allow.pattern].match(inputs.path) else { continue }
            evaluator.captures = captures
            let statement = allow.position
            do throws(EvaluationError) {
                if try evaluator.holds(allow.condition) {
                    grants.append(statement)
                    return true
                }
                denials.append(RulesDecision.Denial(statement: statement, error: nil))
            } catch {
                if case .missingDocument = error.reason { throw error }
                let position = error.node.map(program.position) ?? statement
                let failure = RulesDecision.Failure(message: error.reason.description, position: position)
                denials.append(RulesDecision.Denial(statement: statement, error: failure))
                // The limits are those of all statements together.
                if error.isFatal { break }
            }
        }
        return false
    }

    func decision(_ method: RequestMethod, isAllowed: Bool) -> RulesDecision {
        RulesDecision(
            grants: isAllowed ? grants : [],
            denials: isAllowed ? nil : denials,
            method: method,
            accesses: accesses.accesses,
            dependsOnTime: dependsOnTime,
            expressionCount: expressionCount
        )
    }
}

extension Evaluator {
    /// Returns whether a condition grants: it must be exactly true.
    fileprivate mutating func holds(_ condition: NodeID?) throws(EvaluationError) -> Bool {
        guard let condition else { return true }
        do throws(EvaluationError) {
            return try self.condition(condition, operator: "if ")
        } catch {
            throw located(error, at: condition)
        }
    }
}
