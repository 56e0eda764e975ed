package import DocumentStore
import Synchronization

/// What goes on in a server: how many watch it, and how fast it commits.
package final class ServerActivity: Sendable {
    /// The commits of the last minutes.
    package struct Rates: Sendable {
        /// Commits per second in each interval, the oldest first; none before the first interval is over.
        package let perInterval: [Double]
        /// How long an interval is.
        package let interval: Duration

        /// Commits per second in about the last minute.
        package var recent: Double {
            let last = perInterval.suffix(6)
            return last.isEmpty ? 0 : last.reduce(0, +) / Double(last.count)
        }
    }

    private struct State {
        var watcherCount = 0
        /// The last commit at the end of each interval, and when that was.
        var samples: [(time: ContinuousClock.Instant, sequence: SequenceNumber)] = []
    }

    private let state = Mutex(State())

    /// How long an interval is.
    package static let interval = Duration.seconds(10)
    private static let intervalCount = 60

    package init() {}

    /// How many streams are open.
    package var watcherCount: Int { state.withLock { $0.watcherCount } }

    /// Notes that a stream was opened, or closed.
    package func note(watchers change: Int) {
        state.withLock { $0.watcherCount += change }
    }

    /// Notes the last commit at the end of an interval.
    package func note(_ sequence: SequenceNumber, at time: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.samples.append((time, sequence))
            if state.samples.count > Self.intervalCount + 1 { state.samples.removeFirst() }
        }
    }

    /// How fast commits came in the last minutes.
    package var rates: Rates {
        let samples = state.withLock { $0.samples }
        let rates = zip(samples, samples.dropFirst()).map { start, end -> Double in
            let seconds = (end.time - start.time) / .seconds(1)
            return seconds > 0 ? Double(end.sequence.rawValue - min(start.sequence, end.sequence).rawValue) / seconds : 0
        }
        return Rates(perInterval: rates, interval: Self.interval)
    }

    /// Notes the last commit of a store at the end of each interval, until the task is cancelled.
    package func follow(_ store: any DocumentStore) async {
        repeat { note(store.position.lastSequence) } while (try? await Task.sleep(for: Self.interval)) != nil
    }
}
