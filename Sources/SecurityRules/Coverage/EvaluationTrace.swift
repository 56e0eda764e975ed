/// The values that an evaluation gave each expression, and the calls that read documents.
struct EvaluationTrace: Sendable {
    private(set) var values: [(node: NodeID, value: String)] = []
    /// The different calls of functions that read documents, in the order of their first appearance.
    private(set) var calls: [DocumentFunctionCall] = []

    /// The maximum length of the text of a value in bytes.
    private static let maximumBytes = 200

    mutating func record(_ result: Result<RuleValue, EvaluationError>, of node: NodeID) {
        switch result {
        case .success(let value): record(value.description, of: node)
        case .failure(let error): record(error.reason.description, of: node)
        }
    }

    private mutating func record(_ text: String, of node: NodeID) {
        guard text.utf8.count > Self.maximumBytes else {
            values.append((node, text))
            return
        }
        var shortened = String.UnicodeScalarView()
        var byteCount = 0
        for scalar in text.unicodeScalars {
            byteCount += UTF8.width(scalar)
            guard byteCount <= Self.maximumBytes else { break }
            shortened.append(scalar)
        }
        values.append((node, String(shortened) + "…"))
    }

    mutating func record(_ call: DocumentFunctionCall) {
        if !calls.contains(call) { calls.append(call) }
    }
}

/// A call of a function that reads a document.
package struct DocumentFunctionCall: Hashable, Sendable {
    let function: GlobalFunction
    let path: RulePath
}

extension DocumentFunctionCall: CustomStringConvertible {
    /// The call as in rules, such as `get(/databases/(default)/documents/users/alice)`.
    package var description: String { "\(function.rawValue)(\(RuleValue.path(path)))" }
}
