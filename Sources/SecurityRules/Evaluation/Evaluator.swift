internal import UTF8Text

/// An evaluator of the expressions of a program, for one operation or one disjunct of a query.
///
/// It is synchronous: a document that has not been read ends the evaluation with ``EvaluationError/Reason/missingDocument(_:)``,
/// and ``Ruleset`` starts again when the caller has read it. An evaluation has at most 1,000 expressions and reads at most 20
/// documents, so that repeating it costs less than keeping it suspended, rules without document reads never wait, and an
/// evaluation depends on nothing but its inputs.
struct Evaluator {
    let program: Program
    let inputs: EvaluationInputs
    var meter: Meter
    var accesses: AccessCounter
    /// The parts of the path that the wildcards of the current match block matched.
    var captures: [RuleValue] = []
    /// The parameters and bindings of the current function.
    private var frame: [RuleValue] = []
    /// The number of expressions that are being evaluated, one inside another.
    private var depth = 0
    /// True once the time of the request was read.
    private(set) var dependsOnTime = false
    /// The values passed to `debug`, which are shown only when the evaluation is complete.
    var debugOutput: [String] = []
    /// The values of expressions, if they are collected.
    var trace: EvaluationTrace?

    init(_ program: Program, _ inputs: EvaluationInputs, meter: Meter, accesses: AccessCounter, trace: EvaluationTrace?) {
        self.program = program
        self.inputs = inputs
        self.meter = meter
        self.accesses = accesses
        self.trace = trace
    }

    /// Evaluates an expression. The recursion is limited, whatever the rules and the values are.
    mutating func evaluate(_ id: NodeID) throws(EvaluationError) -> RuleValue {
        try meter.count()
        depth += 1
        defer { depth -= 1 }
        guard depth <= RulesLimits.evaluationDepth else { throw EvaluationError(.depthLimit) }
        do throws(EvaluationError) {
            let value = try evaluateNode(id)
            trace?.record(.success(value), of: id)
            return value
        } catch {
            trace?.record(.failure(error), of: id)
            throw located(error, at: id)
        }
    }

    /// Returns an error with the innermost expression that failed.
    func located(_ error: EvaluationError, at id: NodeID) -> EvaluationError {
        var error = error
        if error.node == nil { error.node = id }
        return error
    }

    // Evaluation recurses, so the functions between an expression and its operands are small and not inlined: the variables of
    // all kinds of expressions would be on the stack at every level.

    @inline(never)
    private mutating func evaluateNode(_ id: NodeID) throws(EvaluationError) -> RuleValue {
        switch program.nodes[id.index] {
        case .literal(let value): value
        case .local(let slot): frame[slot]
        case .capture(let slot): captures[slot]
        case .request: wholeRequest()
        case .resource: inputs.resource.value
        case .unresolvedVariable(let name): throw EvaluationError(.variableNotFound(name))
        case .unresolvedCall(let name): throw EvaluationError(.functionNotFound(name))
        case .member(let base, let name): try member(name, of: base)
        case .list, .map, .path, .index, .slice: try evaluateCollection(id)
        case .not, .negative, .binary, .and, .or, .conditional, .typeTest: try evaluateOperator(id)
        case .functionCall(let function, let arguments): try call(function, arguments)
        case .globalCall(let function, let arguments): try call(function, arguments)
        case .packageCall(let function, let arguments): try call(function, arguments)
        case .valueCall(let function, let base, let arguments, let expression): try call(function, base, arguments, expression)
        }
    }

    @inline(never)
    private mutating func evaluateOperator(_ id: NodeID) throws(EvaluationError) -> RuleValue {
        switch program.nodes[id.index] {
        case .not(let operand): try .boolean(!condition(operand, operator: "!"))
        case .negative(let operand): try Self.negate(evaluate(operand))
        case .binary(let binary, let left, let right): try apply(binary, left, right)
        case .and(let left, let right): try evaluateLogic(left, right, deciding: false)
        case .or(let left, let right): try evaluateLogic(left, right, deciding: true)
        case .conditional(let test, let then, let otherwise): try evaluateConditional(test, then, otherwise)
        case .typeTest(let operand, let type): try testType(operand, type)
        default: preconditionFailure("not an operator")
        }
    }

    @inline(never)
    private mutating func evaluateCollection(_ id: NodeID) throws(EvaluationError) -> RuleValue {
        switch program.nodes[id.index] {
        case .list(let elements): try list(elements)
        case .map(let entries): try map(entries)
        case .path(let parts): try path(parts)
        case .index(let base, let index): try element(base, index)
        case .slice(let base, let from, let to): try slice(base, from, to)
        default: preconditionFailure("not a collection, and no part of one")
        }
    }

    @inline(never)
    private mutating func wholeRequest() -> RuleValue {
        dependsOnTime = true
        return inputs.request.value
    }

    @inline(never)
    private mutating func list(_ elements: [NodeID]) throws(EvaluationError) -> RuleValue {
        let list = RuleList(try evaluate(elements))
        try meter.charge(list.weight)
        return .list(list)
    }

    @inline(never)
    private mutating func map(_ entries: [(key: UTF8Key, value: NodeID)]) throws(EvaluationError) -> RuleValue {
        let values = try evaluate(entries.map(\.value))
        let map = RuleMap(zip(entries, values).map { (key: $0.key, value: $1) })
        try meter.charge(map.weight)
        return .map(map)
    }

    @inline(never)
    private mutating func element(_ base: NodeID, _ index: NodeID) throws(EvaluationError) -> RuleValue {
        let base = try evaluate(base)
        return try element(of: base, at: evaluate(index))
    }

    @inline(never)
    private mutating func slice(
        _ base: NodeID,
        _ from: NodeID,
        _ to: NodeID
    ) throws(EvaluationError) -> RuleValue {
        let base = try evaluate(base)
        let from = try evaluate(from)
        return try slice(of: base, from: from, to: evaluate(to))
    }

    private mutating func apply(
        _ binary: BinaryOperator,
        _ left: NodeID,
        _ right: NodeID
    ) throws(EvaluationError) -> RuleValue {
        let left = try evaluate(left)
        return try apply(binary, left, evaluate(right))
    }

    @inline(never)
    private mutating func testType(_ operand: NodeID, _ type: RuleType) throws(EvaluationError) -> RuleValue {
        try meter.count()
        return try .boolean(evaluate(operand).isOf(type))
    }

    @inline(never)
    private mutating func call(
        _ function: PackageFunction,
        _ arguments: [NodeID]
    ) throws(EvaluationError) -> RuleValue {
        let arguments = try evaluate(arguments, expecting: function.parameterCount)
        return try meter.call(function, arguments, inputs.environment)
    }

    @inline(never)
    private mutating func call(
        _ function: ValueFunction,
        _ base: NodeID,
        _ arguments: [NodeID],
        _ expression: RegularExpression?
    ) throws(EvaluationError) -> RuleValue {
        let base = try evaluate(base)
        let arguments = try evaluate(arguments, expecting: function.parameterCount)
        return try meter.call(function, on: base, arguments, expression)
    }

    private mutating func evaluate(_ nodes: [NodeID]) throws(EvaluationError) -> [RuleValue] {
        var values: [RuleValue] = []
        values.reserveCapacity(nodes.count)
        for node in nodes { values.append(try evaluate(node)) }
        return values
    }

    /// Evaluates arguments, and checks their number.
    mutating func evaluate(_ arguments: [NodeID], expecting count: Int) throws(EvaluationError) -> [RuleValue] {
        guard arguments.count == count else {
            throw EvaluationError(.argumentCount(received: arguments.count, expected: count))
        }
        return try evaluate(arguments)
    }

    private mutating func member(_ name: UTF8Key, of base: NodeID) throws(EvaluationError) -> RuleValue {
        if case .request = program.nodes[base.index] {
            // Tells which part of the request is read.
            try meter.count()
            if name == "time" { dependsOnTime = true }
            guard let value = inputs.request[name] else { throw EvaluationError(.undefinedProperty(name)) }
            return value
        }
        if trace == nil, case .resource = program.nodes[base.index] {
            // The same result, without a map of all members.
            try meter.count()
            return try inputs.resource.member(name)
        }
        return try evaluate(base).member(name)
    }

    @inline(never)
    private mutating func evaluateConditional(
        _ condition: NodeID,
        _ then: NodeID,
        _ otherwise: NodeID
    ) throws(EvaluationError) -> RuleValue {
        try meter.count()
        if try self.condition(condition, operator: "?") { return try evaluate(then) }
        try meter.count(2)
        return try evaluate(otherwise)
    }

    /// Calls a function of the file: its bindings in order, even unused ones, then its result.
    private mutating func call(
        _ id: Program.FunctionID,
        _ arguments: [NodeID]
    ) throws(EvaluationError) -> RuleValue {
        let function = program.functions[id.index]
        let caller = frame
        let arguments = try evaluate(arguments, expecting: function.parameterCount)
        frame = arguments
        defer { frame = caller }
        for binding in function.bindings {
            try meter.count()
            frame.append(try evaluate(binding))
        }
        guard let result = function.result else { throw EvaluationError(.functionNotFound(function.name.name)) }
        return try evaluate(result)
    }

    @inline(never)
    private mutating func path(_ parts: [Program.PathPart]) throws(EvaluationError) -> RuleValue {
        try meter.count(parts.count)
        var segments: [UTF8Key?] = []
        segments.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .literal(let name):
                segments.append(name)
            case .expression(let node):
                switch try evaluate(node) {
                case .string(let text):
                    guard text.isPathSegment else { throw EvaluationError(.invalidPathSegment(text)) }
                    segments.append(text)
                case .symbolic:
                    throw EvaluationError(.unknown)
                case .null:
                    throw EvaluationError(.nullValue)
                case let value:
                    throw EvaluationError(
                        .unsupportedOperation(received: .prefix("$", value.type), expected: "$string")
                    )
                }
            }
        }
        return .path(RulePath(segments))
    }
}
