internal import UTF8Text

extension Parser {
    /// Parses the path of a match block.
    mutating func parsePattern() throws(Diagnostic) -> [PatternSegment] {
        guard token.kind == .pathStart else {
            if isAt(.slash) { throw unexpected() }
            throw mismatch(expecting: "'/'")
        }
        var segments: [PatternSegment] = []
        while token.kind == .pathStart {
            segments.append(try parsePatternSegment())
        }
        return segments
    }

    private mutating func parsePatternSegment() throws(Diagnostic) -> PatternSegment {
        guard lexer.peek() == UInt8(ascii: "{") else { return .literal(try parseLiteralSegment()) }
        move(to: lexer.offset + 1)
        let name = try parseIdentifier(isBinding: true).name
        let isGlob = skip(.assign)
        if isGlob {
            for _ in 0..<2 { try expect(.times) }
        }
        try expect(.rightBrace)
        return isGlob ? .glob(name) : .wildcard(name)
    }

    /// Parses the literal after a slash: a name, or a name in parentheses, which are part of it.
    private mutating func parseLiteralSegment() throws(Diagnostic) -> UTF8Key {
        let slash = token.range
        let name = try scan(at: slash.end) { lexer throws(Diagnostic) -> UTF8Key? in
            let isParenthesized = lexer.peek() == UInt8(ascii: "(")
            if isParenthesized { lexer.offset += 1 }
            let name = lexer.pathSegment()
            guard isParenthesized else { return name }
            guard lexer.peek() == UInt8(ascii: ")") else { return nil }
            lexer.offset += 1
            return UTF8Key("(" + name.string + ")")
        }
        guard let name, name.byteCount > 0, name != "()" else {
            if isAt(.leftBrace), token.range.start == slash.end {
                // A wildcard, which only the paths of match blocks have.
                while token.kind != .endOfFile, !isAt(.rightBrace), !isAt(.semicolon) { advance() }
                _ = skip(.rightBrace)
            }
            throw Diagnostic("Missing a path segment after '/'.", at: SourceRange(slash.start, max(previousEnd, slash.end)))
        }
        return name
    }

    /// Parses a path literal.
    mutating func parsePath() throws(Diagnostic) -> Expression {
        let start = token.range
        var parts: [Expression.PathPart] = []
        while token.kind == .pathStart {
            if lexer.peek() == UInt8(ascii: "$"), lexer.peek(1) == UInt8(ascii: "(") {
                move(to: lexer.offset + 2)
                parts.append(.expression(try parseExpression()))
                try expect(.rightParenthesis)
            } else {
                parts.append(.literal(try parseLiteralSegment()))
            }
        }
        return try make(.path(parts), from: start)
    }
}
