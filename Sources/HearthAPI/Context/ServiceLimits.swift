package import JSONRPC
import StrictJSON

/// The limits on one call.
package struct ServiceLimits: Sendable {
    /// The maximum size of a request body, and of the response to one call.
    package var maximumBodyBytes: Int
    /// The maximum number of requests in a batch.
    package var maximumBatchCount: Int
    /// The time limit of a call.
    package var callTimeout: Duration
    /// The time that a call may wait before its work begins; `nil` for no limit but ``callTimeout``.
    package var queueTime: Duration?
    /// The maximum number of entries on a page. A page ends early when it reaches ``maximumPageBytes``.
    package var maximumPageSize: Int
    /// The number of document bytes at which a page ends; a page always has at least one document.
    package var maximumPageBytes: Int
    /// The maximum number of documents in a `documents.batchGet` call.
    package var maximumBatchGetCount: Int

    package init(
        maximumBodyBytes: Int = 16 << 20,
        maximumBatchCount: Int = 1_000,
        callTimeout: Duration = .seconds(30),
        queueTime: Duration? = nil,
        maximumPageSize: Int = 1_000,
        maximumPageBytes: Int = 4 << 20,
        maximumBatchGetCount: Int = 1_000
    ) {
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumBatchCount = maximumBatchCount
        self.callTimeout = callTimeout
        self.queueTime = queueTime
        self.maximumPageSize = maximumPageSize
        self.maximumPageBytes = maximumPageBytes
        self.maximumBatchGetCount = maximumBatchGetCount
    }

    /// The limits of the JSON-RPC layer.
    package var rpc: RPCLimits {
        RPCLimits(
            json: JSONLimits(maximumBytes: maximumBodyBytes),
            maximumBatchCount: maximumBatchCount,
            maximumResponseBytes: maximumBodyBytes,
            callTimeout: callTimeout,
            queueTime: queueTime
        )
    }
}
