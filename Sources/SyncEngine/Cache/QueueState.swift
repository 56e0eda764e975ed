internal import DocumentModel

/// The state of a user's queue.
package struct QueueState: Hashable, Sendable {
    /// The identity of the batches after ``QueueIdentity/precedingNumber``.
    package var identity: QueueIdentity
    /// The number of the last batch that was queued; 0 before the first. It stays when the queue becomes empty.
    package var lastNumber: BatchNumber
    /// The highest number whose answer has been processed; 0 before the first.
    package var decidedNumber: BatchNumber
    /// The highest number that may have been sent; 0 before the first.
    package var sentNumber: BatchNumber
    /// The sum of ``MutationBatch/byteCount`` of the batches in the queue.
    package var byteCount: Int

    /// Creates a state.
    package init(
        identity: QueueIdentity = QueueIdentity(),
        lastNumber: BatchNumber = 0,
        decidedNumber: BatchNumber = 0,
        sentNumber: BatchNumber = 0,
        byteCount: Int = 0
    ) {
        self.identity = identity
        self.lastNumber = lastNumber
        self.decidedNumber = decidedNumber
        self.sentNumber = sentNumber
        self.byteCount = byteCount
    }

    /// The number of batches that wait for an answer.
    package var count: UInt64 { lastNumber > decidedNumber ? lastNumber - decidedNumber : 0 }

    /// True if no batch is waiting for an answer.
    package var isEmpty: Bool { count == 0 }

    /// Checks that there is room for one more batch. A single one may be as large as it likes.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if there is none.
    func checkCapacity(for byteCount: Int, _ limits: QueueLimits) throws(StatusError) {
        guard !isEmpty else { return }
        let isTooLarge = byteCount > limits.maximumByteCount - self.byteCount
        guard count >= UInt64(limits.maximumCount) || isTooLarge else { return }
        throw StatusError(
            .resourceExhausted,
            "The queue has \(count) batches of writes (\(self.byteCount) bytes) that the server has not answered. "
                + "Wait until it is shorter."
        )
    }
}

/// The limits of a queue.
package struct QueueLimits: Hashable, Sendable {
    /// The maximum number of batches.
    package var maximumCount = 10_000
    /// The maximum sum of the sizes of the batches, in bytes.
    package var maximumByteCount = 64 << 20

    /// Creates the default limits.
    package init() {}
}
