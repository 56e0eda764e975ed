internal import UTF8Text

/// A recursive-descent parser of rules files.
///
/// It continues after an error at the next statement, so that all errors are reported at once. Its recursion is limited by
/// ``Expression/excessiveDepth`` and ``RulesLimits/matchDepth``, whatever the text.
struct Parser: Sendable {
    private(set) var lexer: Lexer
    /// The current token.
    private(set) var token: Token
    /// The end of the previous token.
    private(set) var previousEnd = 0
    /// The number of expressions that are being parsed, one inside another.
    var nesting = 0
    /// The number of match blocks that are being parsed, one inside another.
    var matchNesting = 0
    /// The number of map literals that are being parsed, one inside another.
    var openMaps = 0
    var version = RulesVersion.one
    var diagnostics = Diagnostics()
    let source: SourceText

    /// Parses a text.
    static func parse(_ source: SourceText) -> (file: FileSyntax, diagnostics: Diagnostics) {
        var parser = Parser(source)
        let file = parser.parseFile()
        return (file, parser.diagnostics)
    }

    private init(_ source: SourceText) {
        self.source = source
        lexer = Lexer(source.bytes)
        token = lexer.next()
    }
}

extension Parser {
    /// Moves to the next token.
    mutating func advance() {
        previousEnd = token.range.end
        token = lexer.next()
    }

    /// Calls `body` with the lexer at an offset, and makes the next token after it the current one.
    mutating func scan<Result>(
        at offset: Int,
        _ body: (inout Lexer) throws(Diagnostic) -> Result
    ) throws(Diagnostic) -> Result {
        lexer.offset = offset
        let result = try body(&lexer)
        previousEnd = lexer.offset
        token = lexer.next()
        return result
    }

    /// Makes the token at an offset the current one.
    mutating func move(to offset: Int) {
        lexer.offset = offset
        previousEnd = offset
        token = lexer.next()
    }

    func isAt(_ symbol: Symbol) -> Bool { token.kind == .symbol(symbol) }

    func isAt(word: String) -> Bool { token.kind == .word(word) }

    /// Skips a symbol, and returns whether it was there.
    mutating func skip(_ symbol: Symbol) -> Bool {
        guard isAt(symbol) else { return false }
        advance()
        return true
    }

    /// Skips a word, and returns whether it was there.
    mutating func skip(word: String) -> Bool {
        guard isAt(word: word) else { return false }
        advance()
        return true
    }

    /// Skips a symbol that must be there.
    mutating func expect(_ symbol: Symbol) throws(Diagnostic) {
        guard skip(symbol) else { throw mismatch(expecting: "'\(symbol.rawValue)'") }
    }

    /// Skips a word that must be there.
    mutating func expect(word: String) throws(Diagnostic) {
        guard skip(word: word) else { throw mismatch(expecting: "'\(word)'") }
    }

    /// Skips the semicolon after a statement, which may be left out directly before a closing brace.
    mutating func expectEndOfStatement() throws(Diagnostic) {
        if !isAt(.rightBrace) { try expect(.semicolon) }
    }

    /// Parses an identifier.
    ///
    /// - Parameter isBinding: True for a parameter, a variable or a wildcard, which cannot have the name of a package.
    mutating func parseIdentifier(isBinding: Bool = false) throws(Diagnostic) -> Identifier {
        guard case .word(let name) = token.kind else { throw mismatch(expecting: "an identifier") }
        let identifier = Identifier(name: name, range: token.range)
        try validate(identifier, isBinding: isBinding)
        advance()
        return identifier
    }

    func validate(_ identifier: Identifier, isBinding: Bool) throws(Diagnostic) {
        if Keyword.all.contains(identifier.name) {
            throw Diagnostic("Unexpected '\(identifier.name)'. A keyword cannot be a name.", at: identifier.range)
        }
        if isBinding, Package(rawValue: identifier.name) != nil {
            throw Diagnostic("The package name '\(identifier.name)' cannot be the name of a variable.", at: identifier.range)
        }
    }
}

extension Parser {
    /// The error for a token that is not the expected one.
    func mismatch(expecting expectation: String) -> Diagnostic {
        switch token.kind {
        case .invalid, .endOfFile, .pathStart: unexpected()
        default: Diagnostic("mismatched input \(tokenText) expecting \(expectation)", at: token.range)
        }
    }

    /// The error for a token that no rule of the grammar accepts.
    func unexpected() -> Diagnostic {
        switch token.kind {
        case .invalid(let message): Diagnostic(message, at: token.range)
        case .endOfFile: Diagnostic("Unexpected '<EOF>'.", at: token.range)
        case .pathStart: Diagnostic(Self.misplacedPath, at: token.range)
        default: Diagnostic("Unexpected \(tokenText).", at: token.range)
        }
    }

    private static let misplacedPath = "Missing 'match' keyword before path."

    private var tokenText: String { Excerpt(source[token.range]).quotedSingly }

    /// Reports an error, and for a misplaced path what it may have been meant as.
    mutating func report(_ error: Diagnostic) {
        diagnostics.append(error)
        guard error.message == Self.misplacedPath, token.kind == .pathStart else { return }
        var probe = lexer
        let name = probe.pathSegment()
        let text = Excerpt("/" + name.string).quotedSingly
        diagnostics.error(
            "Unexpected \(text).\(name.byteCount > 0 ? " To divide, put a blank after the slash." : "")",
            at: error.range
        )
    }

    /// Skips the rest of a block, with its closing brace.
    mutating func skipToEndOfBlock() {
        var depth = 0
        while token.kind != .endOfFile {
            if isAt(.leftBrace) { depth += 1 }
            if isAt(.rightBrace) {
                depth -= 1
                if depth < 0 {
                    advance()
                    return
                }
            }
            advance()
        }
    }

    /// Skips the rest of the path of a match block with an error, up to the brace of the block.
    mutating func skipToBlock() {
        while token.kind != .endOfFile, token.kind != .symbol(.semicolon) {
            // The brace of a wildcard follows a slash.
            let start = token.range.start
            if isAt(.leftBrace), start == 0 || source.bytes[start - 1] != UInt8(ascii: "/") { return }
            advance()
        }
    }

    /// Skips the rest of a statement with an error: up to its semicolon or block, or to the end of the block around it.
    mutating func recover(from start: Int) {
        defer { openMaps = 0 }
        var depth = 0
        while token.kind != .endOfFile {
            switch token.kind {
            case .symbol(.leftBrace) where openMaps > 0:
                openMaps += 1
            case .symbol(.rightBrace) where openMaps > 0:
                openMaps -= 1
            case .symbol(.leftBrace):
                depth += 1
            case .symbol(.rightBrace):
                if depth == 0 {
                    // Every recovery must make progress.
                    if token.range.start == start { advance() }
                    return
                }
                depth -= 1
                if depth == 0 {
                    advance()
                    return
                }
            case .symbol(.semicolon) where depth == 0:
                advance()
                return
            default:
                break
            }
            advance()
        }
    }
}
