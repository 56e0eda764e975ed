/// The number by which a client tells errors apart.
///
/// JSON-RPC keeps -32768 … -32000 for itself; an application's own codes are positive, and Hearth's are the canonical
/// status codes (5 `NOT_FOUND`, 10 `ABORTED`, …). The few of them that the RPC layer itself answers with are named here.
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
    /// There is no method of that name.
    package static let methodNotFound: Self = -32601
    /// The parameters do not fit the method's declaration.
    package static let invalidParams: Self = -32602
    /// The server failed. What happened is in its log, under the `errorId` of the answer.
    package static let internalError: Self = -32603

    /// The call was cancelled, because its client left or the server stops.
    package static let cancelled: Self = 1
    /// The call took longer than the server allows, and was cancelled.
    package static let deadlineExceeded: Self = 4
    /// The answer would be larger than the server sends.
    package static let resourceExhausted: Self = 8

    /// Whether JSON-RPC keeps this number for itself, so that no method may declare it as its own.
    package var isReserved: Bool {
        (-32768 ... -32000).contains(rawValue)
    }

    package var description: String {
        String(rawValue)
    }
}
