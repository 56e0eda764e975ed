import StrictJSON

/// The errors that the server itself answers with.
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
            "There is no method of that name; rpc.discover lists the methods",
            data: ["method": .string(name.string)]
        )
    }

    static func internalError(id: String) -> RPCError {
        RPCError(
            .internalError,
            "The server failed; its log has the reason under this errorId",
            data: ["errorId": .string(id)]
        )
    }

    static var cancelled: RPCError {
        RPCError(.cancelled, "The call was cancelled", data: ["status": "CANCELLED"])
    }

    /// Time is up.
    ///
    /// - Parameter isExecuted: Whether the call was begun, and it was not those before it in its batch that took so long.
    static func deadlineExceeded(_ timeout: Duration, isExecuted: Bool) -> RPCError {
        RPCError(
            .deadlineExceeded,
            isExecuted
                ? "The call was cancelled because it took longer than \(timeout)"
                : "The call was not executed, because those before it in its batch took \(timeout) or longer",
            data: ["status": "DEADLINE_EXCEEDED"]
        )
    }

    /// The response limit is used up.
    ///
    /// - Parameter isExecuted: Whether the call was executed, and only its result is left out.
    static func responseTooLarge(limit: Int, isExecuted: Bool) -> RPCError {
        RPCError(
            .resourceExhausted,
            isExecuted
                ? "The call was executed, but its result would make the response too large"
                : "The call was not executed, because the response is already as large as it may be",
            data: ["status": "RESOURCE_EXHAUSTED", "limit": .integer(limit), "executed": .boolean(isExecuted)]
        )
    }

    /// The ``AnswerBudget`` is used up.
    ///
    /// - Parameter isExecuted: Whether the call was executed, and only its result is left out.
    package static func noRoom(isExecuted: Bool) -> RPCError {
        RPCError(
            .resourceExhausted,
            (isExecuted ? "The call was executed, but there is no room for its result" : "The call was not executed")
                + ": the answers that other clients have not read yet take all the memory there is for them. "
                + "Try again in a moment.",
            data: ["status": "RESOURCE_EXHAUSTED", "retryAfterMilliseconds": .integer(1_000), "executed": .boolean(isExecuted)]
        )
    }
}
