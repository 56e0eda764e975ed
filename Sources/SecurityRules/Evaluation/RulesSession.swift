package import DocumentModel

/// The state that the decisions of one request share: the documents that rules have read, and what is left of the limits.
///
/// A read of one document or a query has one decision; a commit one for each write, and all of them must be allowed.
package struct RulesSession: Sendable {
    /// The documents read so far; `nil` for those that do not exist.
    private(set) var documents: [DocumentAccess: MapValue?] = [:]
    /// The paths that earlier decisions have read.
    private(set) var accessedPaths = Set<DocumentPath>()
    /// The number of expressions that may still be evaluated.
    private(set) var remainingExpressions: Int
    /// The work that may still be done beside expressions.
    private(set) var remainingWork = RulesLimits.workPerCommit
    /// The maximum number of documents that all decisions may read.
    let accessLimit: Int
    let environment: RulesEnvironment
    /// The values of all expressions so far, if they are collected.
    package private(set) var coverage: RulesCoverage?
    /// The different calls of functions that read documents so far, if coverage is collected.
    private(set) var functionCalls: [DocumentFunctionCall] = []
    /// The values passed to `debug` so far, if coverage is collected.
    private(set) var debugOutput: [String] = []

    /// Creates the state of a request.
    ///
    /// - Parameters:
    ///   - operationCount: The number of operations: the writes of a commit, the documents of a batch read, or 1.
    ///   - environment: The functions that need more than their arguments.
    ///   - collectsCoverage: True to collect the values of all expressions, for tools.
    package init(
        operationCount: Int = 1,
        environment: RulesEnvironment = RulesEnvironment(),
        collectsCoverage: Bool = false
    ) {
        accessLimit = operationCount > 1 ? RulesLimits.accessesPerBatch : RulesLimits.accessesPerOperation
        remainingExpressions = RulesLimits.expressionsPerCommit
        self.environment = environment
        coverage = collectsCoverage ? RulesCoverage() : nil
    }

    /// Adds a document that a decision needs.
    ///
    /// All documents must be of one snapshot: the state before the request, or for ``DocumentAccess/isAfterCommit`` the state
    /// after the whole commit.
    ///
    /// - Parameter fields: The fields; `nil` if the document does not exist.
    package mutating func add(_ fields: MapValue?, for access: DocumentAccess) {
        documents.updateValue(fields, forKey: access)
    }

    /// Takes over the work of an evaluation that will be repeated.
    mutating func chargeWork(of evaluation: RulesEvaluation) {
        remainingWork = evaluation.remainingWork
    }

    /// Takes over what a decision has used.
    mutating func finish(_ evaluation: RulesEvaluation) {
        accessedPaths.formUnion(evaluation.accesses.paths)
        remainingExpressions = max(remainingExpressions - evaluation.expressionCount, 0)
        remainingWork = evaluation.remainingWork
        if let trace = evaluation.trace {
            coverage?.merge(trace)
            for call in trace.calls where !functionCalls.contains(call) { functionCalls.append(call) }
            debugOutput += evaluation.debugOutput
        }
        for text in evaluation.debugOutput { environment.debug?(text) }
    }
}
