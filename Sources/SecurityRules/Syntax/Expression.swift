internal import UTF8Text

/// An expression of the language, as written.
struct Expression: Sendable {
    indirect enum Kind: Sendable {
        case literal(RuleValue)
        case variable(String)
        case list([Expression])
        case map([(key: UTF8Key, value: Expression)])
        case path([PathPart])
        case member(Expression, String)
        case index(Expression, Expression)
        case slice(Expression, from: Expression, to: Expression)
        case not(Expression)
        case negative(Expression)
        case binary(BinaryOperator, Expression, Expression)
        case and(Expression, Expression)
        case or(Expression, Expression)
        case conditional(Expression, then: Expression, else: Expression)
        case typeTest(Expression, RuleType)
        /// A call of a function by its name.
        case call(String, [Expression])
        /// A call of a function of a value or a package.
        case memberCall(Expression, String, [Expression])
    }

    /// A segment of a path literal.
    enum PathPart: Sendable {
        case literal(UTF8Key)
        case expression(Expression)
    }

    var kind: Kind
    var range: SourceRange
    /// The number of nested levels, with this one and with parentheses.
    var depth: Int

    /// The first depth that is refused.
    static let excessiveDepth = 100

    init(_ kind: Kind, at range: SourceRange) {
        self.kind = kind
        self.range = range
        depth = kind.children.reduce(0) { max($0, $1.depth) } + 1
    }
}

extension Expression.Kind {
    /// The direct subexpressions.
    var children: [Expression] {
        switch self {
        case .literal, .variable: []
        case .list(let elements): elements
        case .map(let entries): entries.map(\.value)
        case .path(let parts):
            parts.compactMap { part in
                if case .expression(let expression) = part { expression } else { nil }
            }
        case .member(let base, _), .not(let base), .negative(let base), .typeTest(let base, _): [base]
        case .index(let left, let right), .binary(_, let left, let right), .and(let left, let right), .or(let left, let right):
            [left, right]
        case .slice(let base, let from, let to): [base, from, to]
        case .conditional(let condition, let then, let otherwise): [condition, then, otherwise]
        case .call(_, let arguments): arguments
        case .memberCall(let base, _, let arguments): [base] + arguments
        }
    }
}
