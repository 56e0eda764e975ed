/// The syntax tree of a regular expression.
indirect enum RegularExpressionSyntax: Sendable {
    /// The empty string.
    case empty
    case scalars(ScalarClass)
    case assertion(Assertion)
    case concatenation([RegularExpressionSyntax])
    /// Alternatives; an earlier one is preferred.
    case alternation([RegularExpressionSyntax])
    /// Repetitions, without a maximum if that is `nil`.
    case repetition(RegularExpressionSyntax, minimum: Int, maximum: Int?, isGreedy: Bool)

    /// A condition on a position in the text.
    enum Assertion: Sendable {
        case startOfText
        case endOfText
        case startOfLine
        case endOfLine
        case wordBoundary
        case notWordBoundary
    }
}
