internal import DocumentModel
internal import UTF8Text

/// The failure of an expression. It makes a condition not grant, unless `||` or `&&` absorb it.
struct EvaluationError: Error, Sendable {
    /// The cause.
    let reason: Reason
    /// The innermost expression that failed.
    var node: NodeID?

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// The cause of a failure, boxed: every throwing call reserves stack for an error, and evaluation recurses.
    indirect enum Reason: Sendable {
        case undefinedProperty(UTF8Key)
        case nullValue
        /// An operator or a function that does not accept the types of its operands.
        case unsupportedOperation(received: Operation, expected: String)
        case functionNotFound(String)
        case variableNotFound(String)
        case argumentCount(received: Int, expected: Int)
        case indexOutOfBounds(Int64, size: Int)
        case illegalRange(from: Int64, to: Int64)
        case conversion(RuleValue, to: RuleType)
        case divisionByZero
        case overflow
        /// A function whose argument has the right type but no meaning.
        case invalidArgument(function: String, RuleValue)
        case invalidRegularExpression(String)
        /// A string in a path that does not name exactly one segment.
        case invalidPathSegment(UTF8Key)
        /// A document that does not exist or cannot be addressed.
        case serviceCall(function: String, RulePath)
        case accessLimit(Int)
        /// A value that the query does not determine.
        case unknown
        case expressionLimit
        case workLimit
        case depthLimit
        /// A document that has to be read before the evaluation can go on.
        case missingDocument(DocumentAccess)
    }

    /// The types of an operation, as in `timestamp < int` or `list.hasAny(map)`.
    enum Operation: Sendable {
        case infix(String, RuleType, RuleType)
        case prefix(String, RuleType)
        case call(String, RuleType?, [RuleType])
    }

    /// True for an error that ends the evaluation, whatever is around the expression.
    var isFatal: Bool {
        switch reason {
        case .expressionLimit, .workLimit, .depthLimit, .missingDocument: true
        default: false
        }
    }
}

extension EvaluationError.Reason: CustomStringConvertible {
    var description: String {
        switch self {
        case .undefinedProperty(let name):
            "Property \(Excerpt(name.string).text) is undefined on object."
        case .nullValue:
            "Null value error."
        case .unsupportedOperation(let received, let expected):
            "Unsupported operation error. Received: \(received). Expected: \(expected)."
        case .functionNotFound(let name):
            "Function not found error: Name: [\(name.excerpt)]."
        case .variableNotFound(let name):
            "Variable not found error: Name: [\(name.excerpt)]."
        case .argumentCount(let received, let expected):
            "Incorrect number of arguments. Received: \(received). Expected: \(expected)."
        case .indexOutOfBounds(let index, let size):
            "Index out of bound error. Index: [\(index)] , size: [\(size)]."
        case .illegalRange(let from, let to):
            "Illegal range error. From index: [\(from)] , To index: [\(to)]."
        case .conversion(let value, let type):
            "Type conversion error. Argument: [\(value)], From type: [\(value.type.rawValue)], To type: [\(type.rawValue)]."
        case .divisionByZero:
            "Divide by zero error."
        case .overflow:
            "The result does not fit in 64 bits."
        case .invalidArgument(let function, let value):
            "Invalid argument of \(function): \(value)."
        case .invalidRegularExpression(let message):
            "Invalid regular expression: \(message)."
        case .invalidPathSegment(let text):
            "The string \(Excerpt(text.string).quotedSingly) is no path segment, since it is empty or has a slash."
        case .serviceCall(let function, let path):
            "Service call error. Function: [\(function)], Argument: [path_value {\(RuleValue.path(path))}]."
        case .accessLimit(let limit):
            "Unable to read more than \(limit) documents for one request."
        case .unknown:
            "The query does not determine the value."
        case .expressionLimit:
            "Unable to evaluate the expression as the maximum of \(RulesLimits.expressions) expressions to evaluate has been "
                + "reached."
        case .workLimit:
            "Unable to evaluate the expression, since its values are too large."
        case .depthLimit:
            "Expression is too complex to evaluate safely."
        case .missingDocument(let access):
            "The document \(access.path.escapedString) has not been read."
        }
    }
}

extension EvaluationError.Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .infix(let name, let left, let right):
            return "\(left.rawValue) \(name) \(right.rawValue)"
        case .prefix(let name, let operand):
            return name + operand.rawValue
        case .call(let name, let base, let arguments):
            let list = arguments.map(\.rawValue).joined(separator: ", ")
            return (base.map { $0.rawValue + "." } ?? "") + "\(name)(\(list))"
        }
    }
}
