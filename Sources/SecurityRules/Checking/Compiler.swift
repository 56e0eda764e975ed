internal import UTF8Text

/// A compiler of syntax trees to programs. It resolves names, checks limits, and reports errors and warnings.
struct Compiler: Sendable {
    var program: ProgramDraft
    var diagnostics: Diagnostics
    var calls = CallGraph()
    private let version: RulesVersion

    /// Compiles a text.
    ///
    /// - Returns: The program, or `nil` if there are errors; and all issues.
    static func compile(_ text: String) -> (program: Program?, issues: [RulesIssue]) {
        let source = SourceText(text)
        guard source.bytes.count <= RulesLimits.sourceBytes else {
            var diagnostics = Diagnostics()
            diagnostics.error(
                "The file has \(source.bytes.count) bytes; the maximum is \(RulesLimits.sourceBytes).",
                at: SourceRange(0, 0)
            )
            return (nil, diagnostics.issues(in: source))
        }
        let (file, parsed) = Parser.parse(source)
        guard !parsed.hasErrors else { return (nil, parsed.issues(in: source)) }
        var compiler = Compiler(source, file.version, parsed)
        compiler.compile(file)
        let issues = compiler.diagnostics.issues(in: source)
        return (compiler.diagnostics.hasErrors ? nil : Program(compiler.program), issues)
    }

    private init(_ source: SourceText, _ version: RulesVersion, _ diagnostics: Diagnostics) {
        program = ProgramDraft(source: source)
        self.version = version
        self.diagnostics = diagnostics
    }

    private mutating func compile(_ file: FileSyntax) {
        var scope = Scope()
        declare(file.functions, in: &scope)
        if let service = file.service {
            declare(service.functions, in: &scope)
            for match in service.matches { compile(match, inside: [], scope) }
        }
        checkCalls()
        if program.nodes.count > RulesLimits.nodes {
            diagnostics.error(
                "The rules have \(program.nodes.count) expressions; the maximum is \(RulesLimits.nodes). "
                    + "Move conditions that are repeated to functions.",
                at: program.ranges[RulesLimits.nodes]
            )
        }
        for method in RequestMethod.allCases {
            program.allows[method]?.sort { $0.position.offset < $1.position.offset }
        }
        warnOfUndecidableQueries()
    }

    private mutating func compile(_ match: MatchSyntax, inside outer: [PatternSegment], _ scope: Scope) {
        var scope = scope
        let segments = outer + match.path
        check(segments, of: match)
        var slot = outer.count { $0.name != nil }
        for name in match.path.compactMap(\.name) {
            scope.variables[name] = .capture(slot)
            slot += 1
        }
        let pattern = program.patterns.count
        program.patterns.append(PathPattern(segments, version))
        declare(match.functions, in: &scope)
        for allow in match.allows {
            let condition = allow.condition.map { compile($0, in: scope) }
            warnIfPublic(allow, condition)
            let compiled = Program.Allow(
                pattern: pattern,
                condition: condition,
                position: program.source.position(of: allow.range)
            )
            for method in RequestMethod.allCases where allow.methods.contains(where: { $0.requestMethods.contains(method) }) {
                program.allows[method, default: []].append(compiled)
            }
        }
        for inner in match.matches { compile(inner, inside: segments, scope) }
    }

    /// Warns of a statement by which anyone can write documents.
    private mutating func warnIfPublic(_ allow: AllowSyntax, _ condition: NodeID?) {
        let isPublic =
            switch condition.map({ program.nodes[$0.index] }) {
            case nil, .literal(.boolean(true))?: true
            default: false
            }
        let writes: [RequestMethod] = [.create, .update, .delete]
        guard isPublic, allow.methods.contains(where: { $0.requestMethods.contains(where: writes.contains) }) else { return }
        diagnostics.warn(
            "Anyone can write these documents, even without signing in. Add a condition on request.auth.",
            at: allow.range
        )
    }

    private mutating func check(_ segments: [PatternSegment], of match: MatchSyntax) {
        let globCount = segments.count(where: \.isGlob)
        if globCount > 1 {
            diagnostics.error(
                "Invalid glob match expression. Only one glob match is permitted in a match declaration path.",
                at: match.pathRange
            )
        } else if version == .one, globCount == 1, segments.last?.isGlob != true {
            diagnostics.error(
                "Invalid glob match expression. In rules_version = '1' a glob is the last segment of a path. "
                    + "Use rules_version = '2'.",
                at: match.pathRange
            )
        }
        if segments.count > RulesLimits.patternSegments {
            diagnostics.error("The path has more than \(RulesLimits.patternSegments) segments.", at: match.pathRange)
        }
        if segments.count(where: { $0.name != nil }) > RulesLimits.wildcards {
            diagnostics.error("The path has more than \(RulesLimits.wildcards) wildcards.", at: match.pathRange)
        }
    }
}

extension Compiler {
    /// The names that an expression sees.
    struct Scope: Sendable {
        enum Variable: Sendable {
            case local(Int)
            case capture(Int)
        }

        var variables: [String: Variable] = [:]
        var functions: [String: Program.FunctionID] = [:]
        /// The function that contains the expression; `nil` in a condition.
        var function: Program.FunctionID?
    }

    /// Adds the functions of one level to a scope, and compiles them. They may call each other in any order.
    private mutating func declare(_ functions: [FunctionSyntax], in scope: inout Scope) {
        var names = Set<String>()
        var declared: [(Program.FunctionID, FunctionSyntax)] = []
        for function in functions {
            guard names.insert(function.name.name).inserted else {
                diagnostics.error("Function \(function.name.name.excerpt) is already defined.", at: function.name.range)
                continue
            }
            let id = Program.FunctionID(index: program.functions.count)
            program.functions.append(Program.Function(name: function.name, parameterCount: function.parameters.count))
            calls.addFunction()
            scope.functions[function.name.name] = id
            declared.append((id, function))
        }
        for (id, function) in declared { compile(function, id, in: scope) }
    }

    private mutating func compile(_ function: FunctionSyntax, _ id: Program.FunctionID, in outer: Scope) {
        if function.parameters.count > RulesLimits.parameters {
            diagnostics.error(
                "The function has \(function.parameters.count) parameters; the maximum is \(RulesLimits.parameters).",
                at: function.name.range
            )
        }
        if function.bindings.count > RulesLimits.bindings {
            diagnostics.error(
                "Maximum allowed variable count of 10 for a given function has been reached.",
                at: function.bindings[RulesLimits.bindings].name.range
            )
        }
        var scope = outer
        scope.function = id
        var names = Set<String>()
        var slot = 0
        func bind(_ identifier: Identifier) {
            if !names.insert(identifier.name).inserted {
                diagnostics.error(
                    "The identifier [\(identifier.name.excerpt)] is already bound in the current scope.",
                    at: identifier.range
                )
            }
            scope.variables[identifier.name] = .local(slot)
            slot += 1
        }
        for parameter in function.parameters { bind(parameter) }
        for binding in function.bindings {
            let value = compile(binding.value, in: scope)
            program.functions[id.index].bindings.append(value)
            bind(binding.name)
        }
        let result = compile(function.result, in: scope)
        program.functions[id.index].result = result
        warnOfUnusedBindings(of: function, id)
    }

    private mutating func warnOfUnusedBindings(of function: FunctionSyntax, _ id: Program.FunctionID) {
        let compiled = program.functions[id.index]
        // A call's result is set before this is called.
        var pending = compiled.bindings + [compiled.result].compactMap(\.self)
        var used = Set<Int>()
        while let node = pending.popLast() {
            if case .local(let slot) = program.nodes[node.index] { used.insert(slot) }
            pending += program.nodes[node.index].operands
        }
        for (index, binding) in function.bindings.enumerated() where !used.contains(compiled.parameterCount + index) {
            diagnostics.warn("Unused variable: \(binding.name.name.excerpt).", at: binding.name.range)
        }
    }
}
