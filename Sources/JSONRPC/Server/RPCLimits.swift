package import StrictJSON

/// What one request may cost.
package struct RPCLimits: Sendable {
    /// The size and depth of the request.
    package var json: JSONLimits
    /// How many requests a batch may hold. With more, none of them is executed.
    package var maximumBatchCount: Int
    /// How large a response may become. The call whose result would exceed it, and the calls after it in its batch, are
    /// answered with a short error each; those after it are not executed.
    package var maximumResponseBytes: Int
    /// How long one call may take before it is cancelled.
    package var callTimeout: Duration

    package init(
        json: JSONLimits = JSONLimits(),
        maximumBatchCount: Int = 1_000,
        maximumResponseBytes: Int = 16 << 20,
        callTimeout: Duration = .seconds(30)
    ) {
        self.json = json
        self.maximumBatchCount = maximumBatchCount
        self.maximumResponseBytes = maximumResponseBytes
        self.callTimeout = callTimeout
    }
}
