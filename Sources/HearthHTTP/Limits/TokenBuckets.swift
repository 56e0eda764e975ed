import Concurrency
import Synchronization
import UTF8Text

/// Token buckets, one for each client: a client may send a number of calls at once, and then as many per second as its bucket is
/// refilled with.
///
/// A bucket is stored as the time at which it will be full again, as in the generic cell rate algorithm (ITU-T I.371, A.1): a full
/// bucket needs no entry. Buckets that have not been used for as long as filling one takes are dropped, by keeping those in use in one
/// of two generations: each operation takes constant time, however many clients there are. With more clients than entries, those that
/// have sent nothing for longest are forgotten, and begin with a full bucket.
final class TokenBuckets: Sendable {
    /// The rate of a bucket.
    struct Rate: Hashable, Sendable {
        /// The calls per second, from 1 to ``maximum``.
        var callsPerSecond: Int
        /// The calls at once, from 1 to ``maximum``.
        var burst: Int

        static let maximum = 1_000_000

        /// The time in which one call is refilled.
        fileprivate var nanoseconds: Int64 { 1_000_000_000 / Int64(callsPerSecond) }
    }

    /// A part of the clients, so that event loops rarely wait for each other.
    private final class Shard: Sendable {
        struct State {
            /// The time at which the bucket of a client is full.
            var recent: [UTF8Key: Int64] = [:]
            /// The buckets that have not been used since the last change of generations.
            var older: [UTF8Key: Int64] = [:]
            var nextGeneration: Int64 = 0
        }

        let state = Mutex(State())
    }

    private let shards: [Shard]
    private let generationCount: Int
    /// The time in which one call is refilled; 0 for no limit.
    private let interval = Atomic<Int64>(0)
    /// The calls at once.
    private let burst = Atomic<Int64>(0)
    private let refused = Atomic(0)
    private let now: @Sendable () -> Int64

    private static let shardCount = 16
    /// The maximum number of calls by which a batch may overdraw its bucket, which must not be forgotten before it is full.
    private static let maximumOverdraft: Int64 = 1_000

    /// Creates buckets.
    ///
    /// - Parameters:
    ///   - maximumCount: The approximate number of clients to keep buckets for. Each takes about 100 bytes.
    ///   - now: Returns the time since a moment, in nanoseconds.
    init(_ rate: Rate?, maximumCount: Int = 1 << 17, now: @escaping @Sendable () -> Int64) {
        shards = (0..<Self.shardCount).map { _ in Shard() }
        generationCount = max(1, maximumCount / Self.shardCount / 2)
        self.now = now
        set(rate)
    }

    /// Creates buckets by the monotonic clock.
    convenience init(_ rate: Rate?) {
        let time = Stopwatch()
        self.init(rate) { Int64(clamping: time.nanoseconds) }
    }

    /// Replaces the burst and the rate; `nil` for no limit. With another rate, all buckets are full: a client must not wait for calls
    /// that were to be refilled more slowly.
    func set(_ rate: Rate?) {
        burst.store(Int64(rate?.burst ?? 0), ordering: .relaxed)
        let interval = rate?.nanoseconds ?? 0
        guard self.interval.exchange(interval, ordering: .relaxed) != interval else { return }
        for shard in shards { shard.state.withLock { $0 = Shard.State() } }
    }

    /// True if there is no limit.
    var isOff: Bool { interval.load(ordering: .relaxed) == 0 }

    /// The number of calls that were refused.
    var refusedCount: Int { refused.load(ordering: .relaxed) }

    /// The number of clients that a bucket is kept for.
    var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.recent.count + $0.older.count } } }

    /// Consumes a call of the bucket of a client.
    ///
    /// - Returns: The time until the bucket has a call again if it has none now; none is consumed then.
    func consume(for client: UTF8Key) -> Duration? {
        let wait = update(client) { fullTime, now, interval in
            let excess = fullTime - now - (burst.load(ordering: .relaxed) - 1) * interval
            guard excess <= 0 else { return excess }
            fullTime += interval
            return nil
        }
        if wait != nil { refused.add(1, ordering: .relaxed) }
        return wait.map { .nanoseconds($0) }
    }

    /// Consumes further calls of a request that has consumed one, even more than the bucket has: the client then waits until they have
    /// been refilled.
    ///
    /// - Returns: The time until the bucket is not overdrawn any more if it is already; none is consumed then.
    func overdraw(by count: Int, for client: UTF8Key) -> Duration? {
        let wait = update(client) { fullTime, now, interval in
            let excess = fullTime - now - burst.load(ordering: .relaxed) * interval
            guard excess <= 0 else { return excess }
            fullTime += min(Int64(count), Self.maximumOverdraft) * interval
            return nil
        }
        if wait != nil { refused.add(1, ordering: .relaxed) }
        return wait.map { .nanoseconds($0) }
    }

    /// Consumes a call that may have to be refilled first, for a client whose calls wait in order.
    ///
    /// - Returns: The time until it has been refilled.
    func reserve(for client: UTF8Key) -> Duration {
        let wait = update(client) { fullTime, now, interval in
            fullTime += interval
            return fullTime - now - burst.load(ordering: .relaxed) * interval
        }
        return .nanoseconds(max(wait ?? 0, 0))
    }

    /// Changes the time at which a bucket is full.
    private func update(_ client: UTF8Key, _ change: (inout Int64, _ now: Int64, _ interval: Int64) -> Int64?) -> Int64? {
        let interval = interval.load(ordering: .relaxed)
        guard interval > 0 else { return nil }
        let shard = shards[Int(UInt(bitPattern: client.hashValue) % UInt(Self.shardCount))]
        let now = now()
        let lifetime = (burst.load(ordering: .relaxed) + Self.maximumOverdraft) * interval
        return shard.state.withLock { state in
            if now >= state.nextGeneration || state.recent.count >= generationCount {
                state.older = state.recent
                state.recent = [:]
                state.nextGeneration = now + lifetime
            }
            var fullTime = max(state.recent[client] ?? state.older.removeValue(forKey: client) ?? now, now)
            defer { state.recent[client] = fullTime }
            return change(&fullTime, now, interval)
        }
    }
}
