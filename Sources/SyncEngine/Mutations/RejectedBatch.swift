package import DocumentModel

/// A batch that the server has rejected, kept until the application has been told.
package struct RejectedBatch: Hashable, Sendable {
    /// The number that the batch had in the queue.
    package let number: BatchNumber
    /// The time of the call, by the server's clock as far as it is known.
    package let localTime: Timestamp
    /// The writes. None of them was made, unless ``code`` is ``StatusCode/unknown``.
    package let writes: [Write]
    /// The code of the server's error.
    package let code: StatusCode
    /// The message of the server's error.
    package let message: String

    /// The maximum number that a cache keeps for a user, that of a full queue: it drops the oldest ones.
    package static let maximumCount = QueueLimits().maximumCount

    /// Creates a rejected batch from its parts, as a cache stored them.
    package init(number: BatchNumber, localTime: Timestamp, writes: [Write], code: StatusCode, message: String) {
        self.number = number
        self.localTime = localTime
        self.writes = writes
        self.code = code
        self.message = message
    }

    /// Creates the record of a rejection.
    init(_ batch: MutationBatch, _ error: StatusError) {
        self.init(
            number: batch.number,
            localTime: batch.localTime,
            writes: batch.writes,
            code: error.code,
            message: error.message
        )
    }
}
