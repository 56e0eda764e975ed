import Synchronization

/// The share of an operation that is done, and an estimate of the time left.
final class ProgressEstimate: Sendable {
    private let start = Mutex<ContinuousClock.Instant?>(nil)

    /// The time before which there is no estimate.
    private static let minimumElapsed = Duration.seconds(2)

    /// Returns the share and the time left, such as `, 12 %, 3 min left`; empty if the total is unknown.
    ///
    /// The time is measured from the first call with a positive `done`.
    func text(_ done: Int, of total: Int?, at now: ContinuousClock.Instant = .now) -> String {
        guard let total, total > 0, done > 0 else { return "" }
        let start = start.withLock { start in
            let first = start ?? now
            start = first
            return first
        }
        let share = min(Double(done) / Double(total), 1)
        let percentage = ", \(Int(share * 100)) %"
        let elapsed = now - start
        guard elapsed >= Self.minimumElapsed, share < 1 else { return percentage }
        return "\(percentage), \(Self.text(elapsed * ((1 - share) / share))) left"
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = Int((duration / .seconds(1)).rounded(.up))
        guard seconds >= 60 else { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
