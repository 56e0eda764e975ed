package import DocumentStore
import Synchronization

/// How fast commits come in one database.
package final class CommitRates: Sendable {
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

    /// The last commit at the end of each interval, and when that was.
    private let samples = Mutex<[(time: ContinuousClock.Instant, sequence: SequenceNumber)]>([])

    /// How long an interval is.
    package static let interval = Duration.seconds(10)
    private static let intervalCount = 60

    package init() {}

    /// Notes the last commit at the end of an interval.
    package func note(_ sequence: SequenceNumber, at time: ContinuousClock.Instant) {
        samples.withLock { samples in
            samples.append((time, sequence))
            if samples.count > Self.intervalCount + 1 { samples.removeFirst() }
        }
    }

    /// How fast commits came in the last minutes.
    package var current: Rates {
        let samples = samples.withLock { $0 }
        let rates = zip(samples, samples.dropFirst()).map { start, end -> Double in
            let seconds = (end.time - start.time) / .seconds(1)
            return seconds > 0 ? Double(end.sequence.rawValue - min(start.sequence, end.sequence).rawValue) / seconds : 0
        }
        return Rates(perInterval: rates, interval: Self.interval)
    }
}

extension ServiceContext {
    /// Notes the last commit of each database that is open at the end of each interval, until the task is cancelled.
    package func followCommits() async {
        repeat { await noteCommits(at: .now) } while (try? await Task.sleep(for: CommitRates.interval)) != nil
    }

    /// Notes the last commit of each database that is open. It is asked of the program's own context.
    package func noteCommits(at time: ContinuousClock.Instant) async {
        commitRates.note(store.position.lastSequence, at: time)
        await databases?.noteCommits(at: time)
    }
}

extension Databases {
    fileprivate func noteCommits(at time: ContinuousClock.Instant) {
        for case .open(let database) in slots.values { database.commitRates.note(database.position.lastSequence, at: time) }
    }
}
