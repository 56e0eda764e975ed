internal import UTF8Text

extension Parser {
    /// Parses the whole file.
    mutating func parseFile() -> FileSyntax {
        var file = FileSyntax()
        if isAt(word: "rules_version") {
            parseStatement { parser throws(Diagnostic) in file.version = try parser.parseVersion() }
            version = file.version
        }
        while token.kind != .endOfFile {
            parseStatement { parser throws(Diagnostic) in try parser.parseFileMember(of: &file) }
        }
        if file.service == nil, !diagnostics.hasErrors { report(unexpected()) }
        return file
    }

    /// Runs the parser of a statement, and reports and skips a statement with an error.
    private mutating func parseStatement(_ body: (inout Parser) throws(Diagnostic) -> Void) {
        let start = token.range.start
        do throws(Diagnostic) {
            try body(&self)
        } catch {
            report(error)
            recover(from: start)
        }
    }

    private mutating func parseVersion() throws(Diagnostic) -> RulesVersion {
        advance()
        try expect(.assign)
        guard case .string(let text) = token.kind else { throw mismatch(expecting: "'1' or '2'") }
        let version: RulesVersion
        switch text.string {
        case "1": version = .one
        case "2": version = .two
        case "2+modules":
            throw Diagnostic("Modules are not supported. Use rules_version = '2' and one file.", at: token.range)
        default:
            throw Diagnostic(
                "Unknown rules version \(Excerpt(text.string).quotedSingly). Use '1' or '2'.",
                at: token.range
            )
        }
        advance()
        try expect(.semicolon)
        return version
    }

    private mutating func parseFileMember(of file: inout FileSyntax) throws(Diagnostic) {
        switch token.kind {
        case .word("function"):
            if file.service != nil { throw unexpected() }
            file.functions.append(try parseFunction())
        case .word("service"):
            let range = token.range
            let service = try parseService()
            if file.service != nil { throw Diagnostic("A file has one service. Merge the two.", at: range) }
            file.service = service
        case .word("import"):
            let range = token.range
            while token.kind != .endOfFile, !isAt(.semicolon) { advance() }
            throw Diagnostic("Modules are not supported: copy the functions into this file.", at: range)
        default:
            throw unexpected()
        }
    }

    private mutating func parseService() throws(Diagnostic) -> ServiceSyntax {
        advance()
        let start = token.range
        var name = try parseIdentifier().name
        while skip(.dot) { name += "." + (try parseIdentifier().name) }
        guard name == "cloud.firestore" else {
            throw Diagnostic(
                "Unknown service \(Excerpt(name).quotedSingly). Expected 'cloud.firestore'.",
                at: SourceRange(start.start, previousEnd)
            )
        }
        var service = ServiceSyntax()
        try parseBlock { parser throws(Diagnostic) in
            switch parser.token.kind {
            case .word("function"): service.functions.append(try parser.parseFunction())
            case .word("match"): service.matches.append(try parser.parseMatch())
            default: throw parser.unexpected()
            }
        }
        return service
    }

    /// Parses statements in braces.
    private mutating func parseBlock(_ body: (inout Parser) throws(Diagnostic) -> Void) throws(Diagnostic) {
        try expect(.leftBrace)
        while !isAt(.rightBrace) {
            guard token.kind != .endOfFile else { throw unexpected() }
            parseStatement(body)
        }
        advance()
    }

    private mutating func parseMatch() throws(Diagnostic) -> MatchSyntax {
        let keyword = token.range
        advance()
        matchNesting += 1
        defer { matchNesting -= 1 }
        guard matchNesting <= RulesLimits.matchDepth else {
            throw Diagnostic("Match blocks are nested more than \(RulesLimits.matchDepth) levels deep.", at: keyword)
        }
        let start = token.range
        var path: [PatternSegment] = []
        do throws(Diagnostic) {
            path = try parsePattern()
        } catch {
            report(error)
            skipToBlock()
        }
        var match = MatchSyntax(path: path, pathRange: SourceRange(start.start, previousEnd))
        try parseBlock { parser throws(Diagnostic) in
            switch parser.token.kind {
            case .word("function"): match.functions.append(try parser.parseFunction())
            case .word("match"): match.matches.append(try parser.parseMatch())
            case .word("allow"): match.allows.append(try parser.parseAllow())
            default: throw parser.unexpected()
            }
        }
        return match
    }

    private mutating func parseAllow() throws(Diagnostic) -> AllowSyntax {
        let start = token.range
        advance()
        var methods: [RuleMethod] = []
        repeat {
            guard case .word(let name) = token.kind, let method = RuleMethod(rawValue: name) else {
                throw mismatch(expecting: "{'read', 'write', 'get', 'list', 'create', 'update', 'delete'}")
            }
            methods.append(method)
            advance()
        } while skip(.comma)
        var condition: Expression?
        if skip(.colon) {
            try expect(word: "if")
            if isAt(.semicolon) || isAt(.rightBrace) {
                throw Diagnostic("Missing conditional expression after 'if'.", at: token.range)
            }
            condition = try parseExpression()
        }
        try expectEndOfStatement()
        return AllowSyntax(methods: methods, condition: condition, range: SourceRange(start.start, previousEnd))
    }

    private mutating func parseFunction() throws(Diagnostic) -> FunctionSyntax {
        advance()
        let name = try parseIdentifier()
        try expect(.leftParenthesis)
        var parameters: [Identifier] = []
        if !isAt(.rightParenthesis) {
            repeat {
                parameters.append(try parseIdentifier(isBinding: true))
            } while skip(.comma)
        }
        try expect(.rightParenthesis)
        try expect(.leftBrace)
        do throws(Diagnostic) {
            let (bindings, result) = try parseFunctionBody()
            return FunctionSyntax(name: name, parameters: parameters, bindings: bindings, result: result)
        } catch {
            report(error)
            openMaps = 0
            skipToEndOfBlock()
            // A file with errors is not compiled, so the result is never used.
            let placeholder = Expression(.literal(.null), at: name.range)
            return FunctionSyntax(name: name, parameters: parameters, bindings: [], result: placeholder)
        }
    }

    /// Parses the statements of a function, and its closing brace.
    private mutating func parseFunctionBody() throws(Diagnostic) -> (bindings: [FunctionSyntax.Binding], result: Expression) {
        var bindings: [FunctionSyntax.Binding] = []
        while isAt(word: "let") {
            if version == .one {
                diagnostics.error("'let' needs rules_version = '2'.", at: token.range)
            }
            advance()
            let name = try parseIdentifier(isBinding: true)
            try expect(.assign)
            bindings.append(FunctionSyntax.Binding(name: name, value: try parseExpression()))
            try expect(.semicolon)
        }
        try expect(word: "return")
        let result = try parseExpression()
        try expectEndOfStatement()
        try expect(.rightBrace)
        return (bindings, result)
    }
}
