/// The decision whether a server forwards the next commits to a database: while its own have to wait for other servers.
///
/// Of several servers that write, each has its turn at the lock of the database, so that a commit waits for as many transactions as there
/// are servers. When all but one forward theirs, there is one transaction at a time, which makes all that have arrived.
///
/// From time to time, a server makes some commits itself, to find out whether others still write.
struct ForwardingPolicy: Sendable {
    private var isContended: Bool
    /// True for tests that forward all commits.
    private let isForced: Bool
    /// The time of the next transaction of its own.
    private var probe = ContinuousClock.now
    private var interval = minimumInterval
    /// The server that has last failed, until when nothing is forwarded to it, and how often it has failed in succession.
    private var failure: (address: String, pauseEnd: ContinuousClock.Instant, count: Int)?

    /// The delay of the lock from which on other servers are likely to have had it.
    private static let contendedDelay: Duration = .milliseconds(2)
    private static let minimumInterval: Duration = .seconds(1)
    private static let maximumInterval: Duration = .seconds(64)
    /// The number of failures after which the pause is not doubled any more.
    private static let maximumFailureCount = 6

    init(isForced: Bool) {
        self.isForced = isForced
        isContended = isForced
    }

    /// True if the last transaction has waited for those of other servers.
    var isLockContended: Bool { isContended && !isForced }

    /// Records that a transaction of this server has waited for the lock.
    mutating func didLock(after delay: Duration) {
        guard !isForced else { return }
        let wasContended = isContended
        isContended = delay > Self.contendedDelay
        if !isContended {
            interval = Self.minimumInterval
        } else if !wasContended {
            setProbe()
        }
    }

    /// Returns whether to forward the next commits to a server.
    mutating func forwards(to address: String) -> Bool {
        guard mayForward(to: address) else { return false }
        guard !isForced, .now >= probe else { return true }
        interval = min(interval * 2, Self.maximumInterval)
        setProbe()
        return false
    }

    /// Returns whether commits may be forwarded to a server, as far as is known.
    func mayForward(to address: String) -> Bool {
        guard isContended else { return false }
        guard let failure, failure.address == address else { return true }
        return .now >= failure.pauseEnd
    }

    /// Records that a server has not answered. Nothing is forwarded to it for a while, twice as long after each failure that follows.
    mutating func didFail(at address: String, pause: Duration) {
        let count = failure?.address == address ? min((failure?.count ?? 0) + 1, Self.maximumFailureCount) : 1
        failure = (address, .now + pause * (1 << (count - 1)), count)
    }

    /// Records that a server has answered.
    ///
    /// - Parameter pause: The time for which nothing is forwarded to it; `nil` if it makes commits.
    mutating func didAnswer(at address: String, pause: Duration?) {
        if let pause { failure = (address, .now + pause, 0) } else if failure?.address == address { failure = nil }
    }

    /// At a random time, so that servers do not look at the same time.
    private mutating func setProbe() { probe = .now + interval * .random(in: 0.8...1.2) }
}
