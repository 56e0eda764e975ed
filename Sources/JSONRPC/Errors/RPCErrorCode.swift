/// The `code` of an error object.
///
/// JSON-RPC reserves -32768 … -32000. Application codes are positive; Hearth uses the canonical status codes (5 `NOT_FOUND`,
/// 10 `ABORTED`, …). The constants below include those that the RPC layer itself returns.
package struct RPCErrorCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int) {
        self.rawValue = value
    }

    /// The body is not JSON. Nothing was executed.
    package static let parseError: Self = -32700
    /// The JSON is not a request.
    package static let invalidRequest: Self = -32600
    /// The method does not exist.
    package static let methodNotFound: Self = -32601
    /// The parameters do not match the method's declaration.
    package static let invalidParams: Self = -32602
    /// The server failed. The log has the cause under the response's `errorId`.
    package static let internalError: Self = -32603

    /// The call was cancelled, because the client disconnected or the server is shutting down.
    package static let cancelled: Self = 1
    /// The call exceeded the server's time limit and was cancelled.
    package static let deadlineExceeded: Self = 4
    /// The response would exceed the server's size limit.
    package static let resourceExhausted: Self = 8
    /// The server is overloaded.
    package static let unavailable: Self = 14

    /// True for errors for which the server is to blame: JSON-RPC's internal one, and the status codes `UNKNOWN`, `DEADLINE_EXCEEDED`,
    /// `INTERNAL`, `UNAVAILABLE` and `DATA_LOSS`.
    package var isServerFault: Bool { [Self.internalError.rawValue, 2, 4, 13, 14, 15].contains(rawValue) }

    /// True if JSON-RPC reserves this code; methods must not declare it.
    package var isReserved: Bool {
        (-32768 ... -32000).contains(rawValue)
    }

    package var description: String {
        String(rawValue)
    }
}
