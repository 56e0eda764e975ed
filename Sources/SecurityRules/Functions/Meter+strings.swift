internal import UTF8Text

extension Meter {
    /// Calls a function of a string.
    mutating func callString(
        _ function: ValueFunction,
        _ text: UTF8Key,
        _ arguments: [RuleValue],
        _ constant: RegularExpression?
    ) throws(EvaluationError) -> RuleValue {
        try charge(text.byteCount)
        switch function {
        case .size:
            return .integer(Int64(text.string.unicodeScalars.count))
        case .lower:
            return try charged(.string(UTF8Key(text.string.lowercased())))
        case .upper:
            return try charged(.string(UTF8Key(text.string.uppercased())))
        case .trim:
            return .string(text.trimmed)
        case .toUtf8:
            return .bytes(Array(text.utf8))
        case .matches, .split, .replace:
            return try apply(function, text, arguments, constant)
        default:
            throw EvaluationError(.functionNotFound(function.rawValue))
        }
    }

    private mutating func apply(
        _ function: ValueFunction,
        _ text: UTF8Key,
        _ arguments: [RuleValue],
        _ constant: RegularExpression?
    ) throws(EvaluationError) -> RuleValue {
        guard case .string(let pattern) = arguments[0] else {
            throw unsupported(function, .string, arguments, expecting: function == .replace ? "string, string" : "string")
        }
        let expression = if let constant { constant } else { try compile(pattern) }
        switch function {
        case .matches:
            return .boolean(try expression.matchesWhole(text, &self))
        case .split:
            return try charged(.list(RuleList(expression.split(text, &self).map(RuleValue.string))))
        default:
            guard case .string(let replacement) = arguments[1] else {
                throw unsupported(function, .string, arguments, expecting: "string, string")
            }
            return .string(try expression.replace(text, with: replacement, &self))
        }
    }

    /// Compiles a regular expression that is not constant.
    private mutating func compile(_ pattern: UTF8Key) throws(EvaluationError) -> RegularExpression {
        try charge(pattern.byteCount)
        let expression: RegularExpression
        do throws(RegularExpression.SyntaxError) {
            expression = try RegularExpression(pattern.string)
        } catch {
            throw EvaluationError(.invalidRegularExpression(error.message))
        }
        try charge(expression.size)
        return expression
    }
}

extension UTF8Key {
    /// The string without blanks at both ends.
    fileprivate var trimmed: UTF8Key {
        let scalars = string.unicodeScalars
        let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isBlank($0) }), let last = scalars.lastIndex(where: { !isBlank($0) })
        else {
            return ""
        }
        return UTF8Key(Substring(scalars[first...last]))
    }
}
