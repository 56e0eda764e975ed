internal import UTF8Text

extension Compiler {
    /// Compiles an expression. The recursion is limited by ``Expression/excessiveDepth``.
    mutating func compile(_ expression: Expression, in scope: Scope) -> NodeID {
        program.append(node(for: expression, in: scope), at: expression.range)
    }

    private mutating func compile(_ expressions: [Expression], in scope: Scope) -> [NodeID] {
        var nodes: [NodeID] = []
        for expression in expressions { nodes.append(compile(expression, in: scope)) }
        return nodes
    }

    private mutating func node(for expression: Expression, in scope: Scope) -> Program.Node {
        switch expression.kind {
        case .literal(let value):
            return .literal(value)
        case .variable(let name):
            return variable(name, at: expression.range, in: scope)
        case .list(let elements):
            return .list(compile(elements, in: scope))
        case .map(let entries):
            let values = compile(entries.map(\.value), in: scope)
            return .map(zip(entries, values).map { (key: $0.key, value: $1) })
        case .path(let parts):
            return .path(compile(parts, in: scope))
        case .member(let base, let name):
            return .member(compile(base, in: scope), UTF8Key(name))
        case .index(let base, let index):
            return .index(compile(base, in: scope), compile(index, in: scope))
        case .slice(let base, let from, let to):
            return .slice(compile(base, in: scope), from: compile(from, in: scope), to: compile(to, in: scope))
        case .not(let operand):
            return .not(compile(operand, in: scope))
        case .negative(let operand):
            return .negative(compile(operand, in: scope))
        case .binary(let binary, let left, let right):
            warnIfIncomparable(binary, left, right, at: expression.range)
            return .binary(binary, compile(left, in: scope), compile(right, in: scope))
        case .and(let left, let right):
            return .and(compile(left, in: scope), compile(right, in: scope))
        case .or(let left, let right):
            return .or(compile(left, in: scope), compile(right, in: scope))
        case .conditional(let condition, let then, let otherwise):
            return .conditional(
                compile(condition, in: scope),
                then: compile(then, in: scope),
                else: compile(otherwise, in: scope)
            )
        case .typeTest(let value, let type):
            return .typeTest(compile(value, in: scope), type)
        case .call(let name, let arguments):
            return call(name, arguments, at: expression.range, in: scope)
        case .memberCall(let base, let name, let arguments):
            return memberCall(base, name, arguments, at: expression.range, in: scope)
        }
    }

    private mutating func compile(_ parts: [Expression.PathPart], in scope: Scope) -> [Program.PathPart] {
        var compiled: [Program.PathPart] = []
        for part in parts {
            switch part {
            case .literal(let name): compiled.append(.literal(name))
            case .expression(let expression): compiled.append(.expression(compile(expression, in: scope)))
            }
        }
        return compiled
    }

    private mutating func variable(_ name: String, at range: SourceRange, in scope: Scope) -> Program.Node {
        switch scope.variables[name] {
        case .local(let slot): return .local(slot)
        case .capture(let slot): return .capture(slot)
        case nil:
            switch name {
            case "request": return .request
            case "resource": return .resource
            default:
                diagnostics.warn("Invalid variable name: \(name.excerpt).", at: range)
                return .unresolvedVariable(name)
            }
        }
    }

    private mutating func call(
        _ name: String,
        _ arguments: [Expression],
        at range: SourceRange,
        in scope: Scope
    ) -> Program.Node {
        let nodes = compile(arguments, in: scope)
        if let function = scope.functions[name] {
            calls.add(function, from: scope.function)
            checkCount(nodes.count, program.functions[function.index].parameterCount, name, at: range)
            return .functionCall(function, nodes)
        }
        if let function = GlobalFunction(rawValue: name) {
            checkCount(nodes.count, 1, name, at: range)
            return .globalCall(function, nodes)
        }
        diagnostics.warn("Invalid function name: \(name.excerpt).", at: range)
        return .unresolvedCall(name)
    }

    private mutating func memberCall(
        _ base: Expression,
        _ name: String,
        _ arguments: [Expression],
        at range: SourceRange,
        in scope: Scope
    ) -> Program.Node {
        if case .variable(let package) = base.kind, Package(rawValue: package) != nil {
            let nodes = compile(arguments, in: scope)
            let name = "\(package).\(name)"
            guard let function = PackageFunction(rawValue: name) else {
                diagnostics.warn("Invalid function name: \(name.excerpt).", at: range)
                return .unresolvedCall(name)
            }
            checkCount(nodes.count, function.parameterCount, name, at: range)
            return .packageCall(function, nodes)
        }
        let value = compile(base, in: scope)
        let nodes = compile(arguments, in: scope)
        guard let function = ValueFunction(rawValue: name) else {
            diagnostics.warn("Invalid function name: \(name.excerpt).", at: range)
            return .unresolvedCall(name)
        }
        checkCount(nodes.count, function.parameterCount, name, at: range)
        return .valueCall(function, value, nodes, regularExpression(for: function, arguments))
    }

    private mutating func regularExpression(for function: ValueFunction, _ arguments: [Expression]) -> RegularExpression? {
        guard function.takesRegularExpression, let argument = arguments.first, case .literal(.string(let pattern)) = argument.kind
        else { return nil }
        do throws(RegularExpression.SyntaxError) {
            return try RegularExpression(pattern.string)
        } catch {
            diagnostics.error("Invalid regular expression: \(error.message).", at: argument.range)
            return nil
        }
    }

    private mutating func checkCount(_ received: Int, _ expected: Int, _ name: String, at range: SourceRange) {
        guard received != expected else { return }
        diagnostics.warn("Incorrect number of arguments supplied to function: \(name.excerpt).", at: range)
    }

    private mutating func warnIfIncomparable(
        _ binary: BinaryOperator,
        _ left: Expression,
        _ right: Expression,
        at range: SourceRange
    ) {
        guard binary == .equal || binary == .notEqual, let left = left.staticType, let right = right.staticType else { return }
        let areNumbers = left.isSubtype(of: .number) && right.isSubtype(of: .number)
        // A comparison with null is how rules test for it.
        guard left.isDisjoint(from: right), !areNumbers, left != .null, right != .null else { return }
        diagnostics.warn(
            "The sub-expressions are not comparable, so this comparison will always return \(binary == .notEqual).",
            at: range
        )
    }
}

extension Expression {
    /// The type, if the form of the expression tells it.
    fileprivate var staticType: RuleType? {
        switch kind {
        case .literal(let value): value.type
        case .list: .list
        case .map: .map
        case .path: .path
        case .not, .and, .or, .typeTest: .bool
        case .binary(let binary, _, _):
            switch binary {
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in: .bool
            case .plus, .minus, .times, .divide, .remainder: nil
            }
        default: nil
        }
    }
}
