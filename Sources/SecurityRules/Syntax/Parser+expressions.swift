internal import UTF8Text

extension Parser {
    /// Parses an expression.
    mutating func parseExpression() throws(Diagnostic) -> Expression {
        try nested { parser throws(Diagnostic) in
            let condition = try parser.parseOperators(from: .or)
            guard parser.skip(.question) else { return condition }
            let then = try parser.parseExpression()
            try parser.expect(.colon)
            let otherwise = try parser.parseExpression()
            return try parser.make(.conditional(condition, then: then, else: otherwise), from: condition.range)
        }
    }

    /// Parses an expression inside another one, up to a number of levels.
    private mutating func nested(
        _ body: (inout Parser) throws(Diagnostic) -> Expression
    ) throws(Diagnostic) -> Expression {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting < Expression.excessiveDepth else { throw Diagnostic(Self.excessiveDepthMessage, at: token.range) }
        return try body(&self)
    }

    /// Creates an expression that ends at the previous token.
    func make(_ kind: Expression.Kind, from start: SourceRange) throws(Diagnostic) -> Expression {
        try validate(Expression(kind, at: SourceRange(start.start, previousEnd)))
    }

    private func validate(_ expression: Expression) throws(Diagnostic) -> Expression {
        guard expression.depth < Expression.excessiveDepth else {
            throw Diagnostic(Self.excessiveDepthMessage, at: expression.range)
        }
        return expression
    }

    private static let excessiveDepthMessage = "Expression is too complex to evaluate safely."
}

/// The levels of precedence of operators between two operands, loosest first.
private enum Precedence: Int, Comparable {
    case or
    case and
    case equality
    case typeTest
    case membership
    case relation
    case sum
    case product

    static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }

    var next: Precedence? { Precedence(rawValue: rawValue + 1) }
}

/// An operator between two operands.
private enum InfixOperator {
    case or
    case and
    case typeTest
    case binary(BinaryOperator)

    init?(_ token: Token.Kind) {
        switch token {
        case .symbol(.or): self = .or
        case .symbol(.and): self = .and
        case .word("is"): self = .typeTest
        case .word("in"): self = .binary(.in)
        case .symbol(let symbol):
            guard let binary = BinaryOperator(rawValue: symbol.rawValue) else { return nil }
            self = .binary(binary)
        default: return nil
        }
    }

    var precedence: Precedence {
        switch self {
        case .or: .or
        case .and: .and
        case .typeTest: .typeTest
        case .binary(let binary):
            switch binary {
            case .equal, .notEqual: .equality
            case .in: .membership
            case .less, .lessOrEqual, .greater, .greaterOrEqual: .relation
            case .plus, .minus: .sum
            case .times, .divide, .remainder: .product
            }
        }
    }
}

extension Parser {
    /// Parses operators of a level of precedence and of tighter ones. Operators of a level group to the left.
    private mutating func parseOperators(from minimum: Precedence) throws(Diagnostic) -> Expression {
        var left = try parseUnary()
        while let infix = InfixOperator(token.kind), infix.precedence >= minimum {
            advance()
            if case .typeTest = infix {
                let type = try parseType()
                left = try make(.typeTest(left, type), from: left.range)
                continue
            }
            let right = if let next = infix.precedence.next { try parseOperators(from: next) } else { try parseUnary() }
            let kind: Expression.Kind =
                switch infix {
                case .or: .or(left, right)
                case .and: .and(left, right)
                case .binary(let binary): .binary(binary, left, right)
                case .typeTest: preconditionFailure("handled above")
                }
            left = try make(kind, from: left.range)
        }
        return left
    }

    private mutating func parseType() throws(Diagnostic) -> RuleType {
        guard case .word(let name) = token.kind else { throw mismatch(expecting: "a type") }
        guard let type = RuleType(rawValue: name), type.isTestable else {
            let names = RuleType.allCases.filter(\.isTestable).map(\.rawValue).joined(separator: ", ")
            throw Diagnostic("Unknown type \(Excerpt(name).quotedSingly). Expected one of \(names).", at: token.range)
        }
        advance()
        return type
    }

    private mutating func parseUnary() throws(Diagnostic) -> Expression {
        let start = token.range
        if isAt(.not) || isAt(.minus) {
            let isNegative = isAt(.minus)
            advance()
            if isNegative, token.kind == .integer(1 << 63) {
                // The only integer whose magnitude does not fit.
                advance()
                return try make(.literal(.integer(.min)), from: start)
            }
            return try nested { parser throws(Diagnostic) in
                let operand = try parser.parseUnary()
                return try parser.make(isNegative ? .negative(operand) : .not(operand), from: start)
            }
        }
        return try parsePostfix()
    }

    private mutating func parsePostfix() throws(Diagnostic) -> Expression {
        var base = try parsePrimary()
        while true {
            if skip(.dot) {
                guard case .word(let name) = token.kind else { throw mismatch(expecting: "an identifier") }
                advance()
                if isAt(.leftParenthesis) {
                    let arguments = try parseArguments()
                    base = try make(.memberCall(base, name, arguments), from: base.range)
                } else {
                    base = try make(.member(base, name), from: base.range)
                }
            } else if skip(.leftBracket) {
                let index = try parseExpression()
                if skip(.colon) {
                    let end = try parseExpression()
                    try expect(.rightBracket)
                    base = try make(.slice(base, from: index, to: end), from: base.range)
                } else {
                    try expect(.rightBracket)
                    base = try make(.index(base, index), from: base.range)
                }
            } else {
                return base
            }
        }
    }

    /// Parses arguments in parentheses.
    private mutating func parseArguments() throws(Diagnostic) -> [Expression] {
        try expect(.leftParenthesis)
        var arguments: [Expression] = []
        if !isAt(.rightParenthesis) {
            repeat {
                arguments.append(try parseExpression())
            } while skip(.comma)
        }
        try expect(.rightParenthesis)
        return arguments
    }

    private mutating func parsePrimary() throws(Diagnostic) -> Expression {
        let start = token.range
        switch token.kind {
        case .word("true"): return try parseLiteral(.boolean(true))
        case .word("false"): return try parseLiteral(.boolean(false))
        case .word("null"): return try parseLiteral(.null)
        case .integer(let magnitude):
            guard let number = Int64(exactly: magnitude) else {
                throw Diagnostic("The integer \(magnitude) does not fit in 64 bits.", at: start)
            }
            return try parseLiteral(.integer(number))
        case .float(let number): return try parseLiteral(.float(number))
        case .string(let text): return try parseLiteral(.string(text))
        case .bytes(let bytes): return try parseLiteral(.bytes(bytes))
        case .word: return try parseName()
        case .symbol(.leftParenthesis): return try parseParentheses()
        case .symbol(.leftBracket): return try parseList()
        case .symbol(.leftBrace): return try parseMap()
        case .pathStart: return try parsePath()
        default: throw unexpected()
        }
    }

    private mutating func parseLiteral(_ value: RuleValue) throws(Diagnostic) -> Expression {
        let range = token.range
        advance()
        return try make(.literal(value), from: range)
    }

    private mutating func parseName() throws(Diagnostic) -> Expression {
        let name = try parseIdentifier()
        guard isAt(.leftParenthesis) else { return try make(.variable(name.name), from: name.range) }
        let arguments = try parseArguments()
        return try make(.call(name.name, arguments), from: name.range)
    }

    private mutating func parseParentheses() throws(Diagnostic) -> Expression {
        let start = token.range
        advance()
        var inner = try parseExpression()
        try expect(.rightParenthesis)
        inner.depth += 1
        inner.range = SourceRange(start.start, previousEnd)
        return try validate(inner)
    }

    private mutating func parseList() throws(Diagnostic) -> Expression {
        let start = token.range
        advance()
        var elements: [Expression] = []
        while !isAt(.rightBracket) {
            elements.append(try parseExpression())
            guard skip(.comma) else { break }
        }
        try expect(.rightBracket)
        return try make(.list(elements), from: start)
    }

    private mutating func parseMap() throws(Diagnostic) -> Expression {
        let start = token.range
        advance()
        openMaps += 1
        var entries: [(key: UTF8Key, value: Expression)] = []
        while !isAt(.rightBrace) {
            let key: UTF8Key
            switch token.kind {
            case .string(let text): key = text
            case .word(let name): key = UTF8Key(name)
            default: throw mismatch(expecting: "a string or a name as the key")
            }
            advance()
            try expect(.colon)
            entries.append((key, try parseExpression()))
            guard skip(.comma) else { break }
        }
        try expect(.rightBrace)
        openMaps -= 1
        return try make(.map(entries), from: start)
    }
}
