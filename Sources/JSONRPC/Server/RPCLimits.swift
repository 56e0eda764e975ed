package import StrictJSON

/// The resource limits for one request.
package struct RPCLimits: Sendable {
    /// The maximum size and depth of the request body.
    package var json: JSONLimits
    /// The maximum number of requests in a batch. No request of a larger batch is executed.
    package var maximumBatchCount: Int
    /// The maximum size of a response. A call whose result would exceed it gets a short error instead of the result; later calls
    /// of the batch get an error and are not executed.
    package var maximumResponseBytes: Int
    /// The time limit for a call, after which it is cancelled.
    package var callTimeout: Duration
    /// The time that a call may wait before its work begins; `nil` for no limit but ``callTimeout``.
    package var queueTime: Duration?

    package init(
        json: JSONLimits = JSONLimits(),
        maximumBatchCount: Int = 1_000,
        maximumResponseBytes: Int = 16 << 20,
        callTimeout: Duration = .seconds(30),
        queueTime: Duration? = nil
    ) {
        self.json = json
        self.maximumBatchCount = maximumBatchCount
        self.maximumResponseBytes = maximumResponseBytes
        self.callTimeout = callTimeout
        self.queueTime = queueTime
    }
}
