/// A nondeterministic automaton in the form of a program.
struct Automaton: Sendable {
    enum Instruction: Sendable {
        /// Goes on if the next scalar is this one.
        case scalar(Unicode.Scalar)
        /// Goes on if the next scalar is in a class.
        case scalars(Int)
        case assertion(RegularExpressionSyntax.Assertion)
        case jump(Int)
        /// Goes on at both instructions; the first is preferred.
        case split(Int, Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var classes: [ScalarClass] = []
    /// The number of syntax nodes compiled, with repetitions: those of the empty string add no instructions.
    private var nodeCount = 0

    private static let maximumInstructions = 10_000
    private static let maximumNodes = 40_000

    init(_ syntax: RegularExpressionSyntax) throws(RegularExpression.SyntaxError) {
        try compile(syntax)
        try append(.match)
    }

    private mutating func append(_ instruction: Instruction) throws(RegularExpression.SyntaxError) {
        guard instructions.count < Self.maximumInstructions else { throw Self.tooLarge }
        instructions.append(instruction)
    }

    private static var tooLarge: RegularExpression.SyntaxError {
        RegularExpression.SyntaxError(message: "expression too large")
    }

    /// Appends the instructions of a node. The recursion is limited by the parser.
    private mutating func compile(_ syntax: RegularExpressionSyntax) throws(RegularExpression.SyntaxError) {
        nodeCount += 1
        guard nodeCount <= Self.maximumNodes else { throw Self.tooLarge }
        switch syntax {
        case .empty:
            break
        case .scalars(let scalars):
            try compile(scalars)
        case .assertion(let assertion):
            try append(.assertion(assertion))
        case .concatenation(let parts):
            for part in parts { try compile(part) }
        case .alternation(let alternatives):
            try compile(alternatives)
        case .repetition(let body, let minimum, let maximum, let isGreedy):
            if let maximum {
                for _ in 0..<minimum { try compile(body) }
                try compileOptional(body, count: maximum - minimum, isGreedy)
            } else {
                for _ in 0..<max(minimum - 1, 0) { try compile(body) }
                try compileLoop(body, isOptional: minimum == 0, isGreedy)
            }
        }
    }

    private mutating func compile(_ scalars: ScalarClass) throws(RegularExpression.SyntaxError) {
        if !scalars.isNegated, !scalars.foldsCase, let scalar = scalars.single {
            try append(.scalar(scalar))
        } else {
            classes.append(scalars)
            try append(.scalars(classes.count - 1))
        }
    }

    private mutating func compile(_ alternatives: [RegularExpressionSyntax]) throws(RegularExpression.SyntaxError) {
        var jumps: [Int] = []
        for (index, alternative) in alternatives.enumerated() {
            guard index < alternatives.count - 1 else {
                try compile(alternative)
                break
            }
            let split = instructions.count
            try append(.split(split + 1, 0))
            try compile(alternative)
            jumps.append(instructions.count)
            try append(.jump(0))
            instructions[split] = .split(split + 1, instructions.count)
        }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func compileOptional(
        _ body: RegularExpressionSyntax,
        count: Int,
        _ isGreedy: Bool
    ) throws(RegularExpression.SyntaxError) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(instructions.count)
            try append(.split(0, 0))
            try compile(body)
        }
        for split in splits { instructions[split] = Self.split(into: split + 1, past: instructions.count, isGreedy) }
    }

    /// Compiles any number of repetitions, of which one is required unless the loop is optional.
    ///
    /// The loop returns to its end rather than to its start, so that a body that matches the empty string leaves it with the
    /// right preference.
    private mutating func compileLoop(
        _ body: RegularExpressionSyntax,
        isOptional: Bool,
        _ isGreedy: Bool
    ) throws(RegularExpression.SyntaxError) {
        let entry = instructions.count
        if isOptional { try append(.split(0, 0)) }
        let start = instructions.count
        try compile(body)
        let end = instructions.count
        try append(.split(0, 0))
        instructions[end] = Self.split(into: start, past: end + 1, isGreedy)
        if isOptional { instructions[entry] = Self.split(into: start, past: end + 1, isGreedy) }
    }

    private static func split(into body: Int, past end: Int, _ isGreedy: Bool) -> Instruction {
        isGreedy ? .split(body, end) : .split(end, body)
    }
}

extension ScalarClass {
    /// The only scalar; `nil` if there are others.
    fileprivate var single: Unicode.Scalar? {
        guard ranges.count == 1, ranges[0].count == 1, hasOnlyRanges else { return nil }
        return Unicode.Scalar(ranges[0].lowerBound)
    }
}
