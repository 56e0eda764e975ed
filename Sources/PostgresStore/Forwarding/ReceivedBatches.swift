internal import Synchronization

/// The batches of commits that other servers have forwarded lately, by which one that is delivered twice is recognized, whatever became
/// of its commits.
///
/// A batch is accepted for a short time after it was sent, and its token is known for as long. All servers measure that by the clock of the
/// engine, so that their own need not agree.
final class ReceivedBatches: Sendable {
    /// The decision about a batch.
    enum Admission {
        /// It has not been delivered before.
        case accepted
        /// It has been delivered before; its commits may have been made.
        case duplicate
        /// It was sent too long ago, or too many others have been delivered lately.
        case refused
    }

    private struct State {
        var recent: Set<UInt128> = []
        /// The tokens of the period before.
        var earlier: Set<UInt128> = []
        var periodBegin = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// The maximum difference between the time of a batch and the present time, in microseconds.
    static let maximumAge: Int64 = 10_000_000
    /// The time for which a token is known at least: a batch may have a time to come.
    private static let period: Duration = .microseconds(2 * maximumAge)
    /// The maximum number of batches in a period.
    private static let maximumCount = 1 << 18

    /// Decides about a batch, and records it.
    ///
    /// - Parameter engineTime: The time of the engine; `nil` if it is not known.
    func admit(_ batch: ForwardedBatch, at engineTime: Int64?) -> Admission {
        let token = batch.token.reduce(0) { $0 << 8 | UInt128($1) }
        return state.withLock { state in
            if ContinuousClock.now - state.periodBegin >= Self.period {
                (state.earlier, state.recent, state.periodBegin) = (state.recent, [], .now)
            }
            if state.recent.contains(token) || state.earlier.contains(token) { return .duplicate }
            guard let engineTime, state.recent.count < Self.maximumCount,
                (engineTime - Self.maximumAge...engineTime + Self.maximumAge).contains(batch.sentTime)
            else { return .refused }
            state.recent.insert(token)
            return .accepted
        }
    }
}
