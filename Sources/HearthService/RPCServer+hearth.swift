package import JSONRPC
package import Logging

extension RPCServer<ServiceContext> {
    /// A server of all of Hearth's methods. What they did not foresee goes to the log.
    ///
    /// - Parameters:
    ///   - limits: What one request may cost.
    ///   - answers: The memory for all answers.
    package init(limits: RPCLimits, answers: AnswerBudget, logger: Logger) {
        self.init(methods: HearthMethods.table, limits: limits, answers: answers) { failure in
            logger.error(
                "call failed",
                metadata: [
                    "rpc.method": "\(failure.method)",
                    "error": "\(failure.error)",
                    "error.id": "\(failure.errorID)",
                ]
            )
        }
    }
}
