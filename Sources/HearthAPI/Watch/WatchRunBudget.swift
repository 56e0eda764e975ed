/// The time that a stream may spend on running its query again.
///
/// A query with an offset is run again at every commit in its collections, since any of them may move the first document of the
/// result, and it skips all documents before that each time. Without a limit, a single stream with a large offset would use a
/// processor beside a stream of commits. With one, the query is run less often, each time at the last commit.
///
/// A run that takes long, because it waits for others or because the result is far behind, delays the next one by a limited time
/// only.
package struct WatchRunBudget: Sendable {
    /// The share of the time that runs may take, in the long term.
    private let share: Double
    /// The time that may be saved for runs in quick succession.
    private let maximumBalance: Duration
    /// The maximum time that runs may have taken beyond their share.
    private let maximumDebt: Duration
    /// The saved time; negative after a run that took longer.
    private var balance: Duration
    /// The time up to which the share has been added.
    private var updateTime: ContinuousClock.Instant?

    package init(share: Double, maximumBalance: Duration, maximumDebt: Duration = .seconds(1)) {
        self.share = share
        self.maximumBalance = maximumBalance
        self.maximumDebt = maximumDebt
        balance = maximumBalance
    }

    /// The budget of a stream: a tenth of a processor, with pauses of at most ten seconds.
    package static let standard = WatchRunBudget(share: 0.1, maximumBalance: .milliseconds(500))

    /// Returns the time until the next run; zero or less if it is permitted now.
    mutating func delay(at now: ContinuousClock.Instant) -> Duration {
        balance = min(maximumBalance, balance + (now - (updateTime ?? now)) * share)
        updateTime = now
        return balance < .zero ? (.zero - balance) / share : .zero
    }

    /// Records a run.
    mutating func spend(_ duration: Duration, at now: ContinuousClock.Instant) {
        _ = delay(at: now)
        balance = max(balance - duration, .zero - maximumDebt)
    }
}
