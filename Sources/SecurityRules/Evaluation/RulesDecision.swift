/// The decision of rules about a request.
package struct RulesDecision: Sendable {
    /// True if the request is allowed.
    package var isAllowed: Bool { denials == nil }
    /// The allow statements that granted: one, or for a query one for each disjunct.
    package let grants: [SourcePosition]
    /// The allow statements that were tried in vain; `nil` if the request is allowed.
    package let denials: [Denial]?
    /// The method of the request.
    package let method: RequestMethod
    /// The documents that were read, on which the decision depends.
    package let accesses: [DocumentAccess]
    /// True if the decision depends on the time of the request.
    package let dependsOnTime: Bool
    /// The number of expressions evaluated.
    package let expressionCount: Int

    /// An allow statement that did not grant.
    package struct Denial: Sendable {
        /// The position of the statement.
        package let statement: SourcePosition
        /// The error of its condition; `nil` if it is false.
        package let error: Failure?
    }

    /// The error of a condition.
    package struct Failure: Sendable {
        /// The message. It may quote the contents of documents.
        package let message: String
        /// The position of the expression.
        package let position: SourcePosition
    }
}

extension RulesDecision {
    /// The reason of a denial in the words of Firestore's emulator; empty if the request is allowed.
    ///
    /// It tells of the contents of documents and is for administrators and tests. End users get "Missing or insufficient
    /// permissions."
    package var explanation: String {
        guard let denials else { return "" }
        guard !denials.isEmpty else { return "\nNo matching allow statements" }
        let reasons = denials.map { denial in
            let statement = "for '\(method.rawValue)' @ L\(denial.statement.line)"
            guard let error = denial.error else { return "false \(statement)" }
            if method == .list { return "\(error.message) \(statement)" }
            return "evaluation error at L\(error.position.line):\(error.position.column) \(statement)"
        }
        return "\n" + reasons.joined(separator: ", ")
    }
}
