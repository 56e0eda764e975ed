import StrictJSON

/// Tells transactions that lost against others when to try again: one after the other.
///
/// Those that lost over the same document, or collection, get turns; the first may begin at once. A turn is as long as such a
/// transaction lasts from its first read to its commit: short in the beginning, and then what those took that lost in spite of
/// having had a turn. So many callers need a few attempts each, instead of all trying at the same time until each has won once.
package struct Contention: Sendable {
    private struct Queue {
        /// When the first lost.
        let begun: ContinuousClock.Instant
        /// When the next turn begins.
        var next: ContinuousClock.Instant
        /// How long a turn is.
        var turn: Duration
    }

    private var queues: [UTF8Key: Queue] = [:]

    private static let turns = Duration.milliseconds(1) ... .seconds(1)
    private static let longestFirstTurn = Duration.milliseconds(16)
    private static let longestWait = Duration.seconds(10)
    private static let maximumQueues = 1_000

    package init() {}

    /// Gives a turn.
    ///
    /// - Parameters:
    ///   - place: What was competed for.
    ///   - attempt: When the transaction that lost read first, and when it was to be committed.
    /// - Returns: How long it is from `now` until the turn begins.
    package mutating func turn(
        at place: String,
        after attempt: Range<ContinuousClock.Instant>,
        now: ContinuousClock.Instant
    ) -> Duration {
        let key = UTF8Key(place)
        let duration = min(max(attempt.upperBound - attempt.lowerBound, Self.turns.lowerBound), Self.turns.upperBound)
        var queue: Queue
        if let known = queues[key], known.next > now {
            queue = known
            // Those that had read before may have taken so long because there were so many of them.
            if attempt.lowerBound >= queue.begun { queue.turn += (duration - queue.turn) / 2 }
        } else {
            queue = Queue(begun: now, next: now, turn: min(duration, Self.longestFirstTurn))
            makeRoom(at: now)
        }
        let wait = queue.next - now
        if wait < Self.longestWait { queue.next += queue.turn }
        queues[key] = queue
        return wait
    }

    /// Forgets, where there are very many, the queues in which nobody waits any more, and else all.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        guard queues.count >= Self.maximumQueues else { return }
        queues = queues.filter { $0.value.next > now }
        if queues.count >= Self.maximumQueues { queues = [:] }
    }
}
