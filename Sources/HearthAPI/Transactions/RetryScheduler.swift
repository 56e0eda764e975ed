import UTF8Text

/// Schedules the retries of transactions that were aborted by conflicts, one after another.
///
/// Transactions with a conflict on the same document or collection get consecutive time slots; the first one may retry
/// immediately. A slot is as long as such a transaction takes from its first read to its commit: short at first, then adapted to
/// the duration of transactions that failed again within their slot. Many competing callers therefore need only a
/// few attempts each, instead of all retrying at once until each has succeeded.
package struct RetryScheduler: Sendable {
    private struct Queue {
        /// The time of the first conflict.
        let startTime: ContinuousClock.Instant
        /// The start of the next slot.
        var nextSlot: ContinuousClock.Instant
        /// The length of a slot.
        var slotDuration: Duration
    }

    private var queues: [UTF8Key: Queue] = [:]

    private static let slotDurations = Duration.milliseconds(1) ... .seconds(1)
    private static let maximumFirstSlotDuration = Duration.milliseconds(16)
    private static let maximumDelay = Duration.seconds(10)
    private static let maximumQueues = 1_000

    package init() {}

    /// Assigns a slot to an aborted transaction.
    ///
    /// - Parameters:
    ///   - path: The document or collection of the conflict.
    ///   - attempt: The time from the first read of the transaction to its commit.
    /// - Returns: The delay from `now` to the start of the slot.
    package mutating func delay(
        forConflictAt path: String,
        attempt: Range<ContinuousClock.Instant>,
        now: ContinuousClock.Instant
    ) -> Duration {
        let key = UTF8Key(path)
        let duration = min(
            max(attempt.upperBound - attempt.lowerBound, Self.slotDurations.lowerBound),
            Self.slotDurations.upperBound
        )
        var queue: Queue
        if let known = queues[key], known.nextSlot > now {
            queue = known
            // Transactions that began before the queue may have been slow only because of their number.
            if attempt.lowerBound >= queue.startTime { queue.slotDuration += (duration - queue.slotDuration) / 2 }
        } else {
            queue = Queue(startTime: now, nextSlot: now, slotDuration: min(duration, Self.maximumFirstSlotDuration))
            evictQueues(at: now)
        }
        let delay = queue.nextSlot - now
        if delay < Self.maximumDelay { queue.nextSlot += queue.slotDuration }
        queues[key] = queue
        return delay
    }

    /// Drops the expired queues if the maximum number of queues is reached, or all queues if none has expired.
    private mutating func evictQueues(at now: ContinuousClock.Instant) {
        guard queues.count >= Self.maximumQueues else { return }
        queues = queues.filter { $0.value.nextSlot > now }
        if queues.count >= Self.maximumQueues { queues = [:] }
    }
}
