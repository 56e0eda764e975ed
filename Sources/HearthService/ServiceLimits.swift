package import JSONRPC
import StrictJSON

/// What one call may ask for and answer with.
package struct ServiceLimits: Sendable {
    /// The size of a request's body, and of one call's answer.
    package var maximumBodyBytes: Int
    /// The requests in one batch.
    package var maximumBatchCount: Int
    /// How long one call may take.
    package var callTimeout: Duration
    /// The largest page of a list. A page also ends early when it reaches ``maximumPageBytes``.
    package var maximumPageSize: Int
    /// How many bytes of documents a page holds before it ends; one document is always let through.
    package var maximumPageBytes: Int
    /// The documents in one `documents.batchGet`.
    package var maximumBatchGetCount: Int

    package init(
        maximumBodyBytes: Int = 16 << 20,
        maximumBatchCount: Int = 1_000,
        callTimeout: Duration = .seconds(30),
        maximumPageSize: Int = 1_000,
        maximumPageBytes: Int = 4 << 20,
        maximumBatchGetCount: Int = 1_000
    ) {
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumBatchCount = maximumBatchCount
        self.callTimeout = callTimeout
        self.maximumPageSize = maximumPageSize
        self.maximumPageBytes = maximumPageBytes
        self.maximumBatchGetCount = maximumBatchGetCount
    }

    /// The limits as the RPC layer takes them.
    package var rpc: RPCLimits {
        RPCLimits(
            json: JSONLimits(maximumBytes: maximumBodyBytes),
            maximumBatchCount: maximumBatchCount,
            maximumResponseBytes: maximumBodyBytes,
            callTimeout: callTimeout
        )
    }
}
