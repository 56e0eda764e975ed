package import Concurrency
import StrictJSON
import UTF8Text

/// The errors that the RPC layer itself returns.
extension RPCError {
    static func parseError(_ error: JSONSyntaxError) -> RPCError {
        let reason = excerpt(of: error.reason.description.utf8, maximumBytes: 200)
        return RPCError(
            .parseError,
            "Parse error: \(reason), at line \(error.line), column \(error.column)",
            data: [
                "reason": .string(reason),
                "offset": .integer(error.offset),
                "line": .integer(error.line),
                "column": .integer(error.column),
            ]
        )
    }

    static func invalidRequest(_ reason: String, data: RPCErrorData = [:]) -> RPCError {
        RPCError(.invalidRequest, "Invalid request: \(reason)", data: data)
    }

    static func methodNotFound(_ name: UTF8Key) -> RPCError {
        RPCError(
            .methodNotFound,
            "Method not found; rpc.discover lists the methods",
            data: ["method": .string(name.string)]
        )
    }

    static func internalError(id: String) -> RPCError {
        RPCError(
            .internalError,
            "Internal error; the server log has the cause under this errorId",
            data: ["errorId": .string(id)]
        )
    }

    static var cancelled: RPCError {
        RPCError(.cancelled, "The call was cancelled", data: ["status": "CANCELLED"])
    }

    /// Returns the error for an exceeded time limit.
    ///
    /// - Parameter isExecuted: Whether the call itself ran; `false` if earlier calls of its batch used up the time.
    static func deadlineExceeded(_ timeout: Duration, isExecuted: Bool) -> RPCError {
        RPCError(
            .deadlineExceeded,
            isExecuted
                ? "The call was cancelled because it took longer than \(timeout)"
                : "The call was not executed because the calls before it in the batch took \(timeout) or longer",
            data: ["status": "DEADLINE_EXCEEDED"]
        )
    }

    /// Creates the error for a call that has waited too long before its work.
    package init(refusing refusal: CallAdmission.Refusal) {
        switch refusal {
        case .queueTime:
            let (seconds, attoseconds) = CallAdmission.Refusal.retryDelay().components
            let milliseconds = Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
            self.init(
                .unavailable,
                refusal.message,
                data: ["status": "UNAVAILABLE", "retryAfterMilliseconds": .integer(milliseconds), "executed": .boolean(false)]
            )
        case .deadline:
            self.init(.deadlineExceeded, refusal.message, data: ["status": "DEADLINE_EXCEEDED", "executed": .boolean(false)])
        }
    }

    /// Returns the error for a response that would exceed its size limit.
    ///
    /// - Parameter isExecuted: Whether the call ran and only its result is omitted.
    static func responseTooLarge(limit: Int, isExecuted: Bool) -> RPCError {
        RPCError(
            .resourceExhausted,
            isExecuted
                ? "The call was executed, but its result exceeds the response size limit"
                : "The call was not executed because the response has reached its size limit",
            data: ["status": "RESOURCE_EXHAUSTED", "limit": .integer(limit), "executed": .boolean(isExecuted)]
        )
    }

    /// Returns the error for an exhausted response memory limit.
    ///
    /// - Parameter isExecuted: Whether the call ran and only its result is omitted.
    package static func responseMemoryExhausted(isExecuted: Bool) -> RPCError {
        RPCError(
            .resourceExhausted,
            (isExecuted ? "The call was executed, but its result was dropped" : "The call was not executed")
                + ": the response memory limit is exhausted by responses that other clients have not read yet. "
                + "Retry shortly.",
            data: ["status": "RESOURCE_EXHAUSTED", "retryAfterMilliseconds": .integer(1_000), "executed": .boolean(isExecuted)]
        )
    }
}
