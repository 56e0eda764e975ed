package import DocumentStore
import Synchronization

/// The commit rates of one database over the last ten minutes, sampled at fixed intervals.
package final class CommitRates: Sendable {
    /// A snapshot of the rates.
    package struct Rates: Sendable {
        /// Commits per second in each interval, oldest first; empty until the first interval has ended.
        package let perInterval: [Double]
        /// The length of an interval.
        package let interval: Duration

        /// Commits per second over the last minute.
        package var recent: Double {
            let last = perInterval.suffix(6)
            return last.isEmpty ? 0 : last.reduce(0, +) / Double(last.count)
        }
    }

    /// The last sequence number at each sample time.
    private let samples = Mutex<[(time: ContinuousClock.Instant, sequence: SequenceNumber)]>([])

    /// The sampling interval.
    package static let interval = Duration.seconds(10)
    private static let intervalCount = 60

    package init() {}

    /// Records the last sequence number at a sample time.
    package func recordSample(_ sequence: SequenceNumber, at time: ContinuousClock.Instant) {
        samples.withLock { samples in
            samples.append((time, sequence))
            if samples.count > Self.intervalCount + 1 { samples.removeFirst() }
        }
    }

    /// The current rates.
    package var current: Rates {
        let samples = samples.withLock { $0 }
        let rates = zip(samples, samples.dropFirst()).map { start, end -> Double in
            let seconds = (end.time - start.time) / .seconds(1)
            return seconds > 0 ? Double(end.sequence.rawValue - min(start.sequence, end.sequence).rawValue) / seconds : 0
        }
        return Rates(perInterval: rates, interval: Self.interval)
    }
}
