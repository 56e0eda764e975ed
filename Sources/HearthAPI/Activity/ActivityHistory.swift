package import DocumentModel
import Synchronization

/// The activity of a server over the last hour, day and week, in a fixed number of samples.
///
/// Each span of time has slots of one length. A slot without a sample is a time in which no server ran.
package final class ActivityHistory: Sendable {
    /// A span of time with its slots.
    package enum Span: String, CaseIterable, Sendable {
        case hour
        case day
        case week

        /// The length of a slot in seconds.
        package var slotSeconds: Int64 {
            switch self {
            case .hour: 10
            case .day: 300
            case .week: 1_800
            }
        }

        /// The number of slots.
        package var slotCount: Int {
            switch self {
            case .hour: 360
            case .day: 288
            case .week: 336
            }
        }

        /// Returns the beginning of the slot that contains a Unix time.
        func slot(at seconds: Int64) -> Int64 { seconds - seconds % slotSeconds }

        /// Returns the position of the slot that begins at a Unix time.
        func position(of slot: Int64) -> Int { Int(slot / slotSeconds) % slotCount }
    }

    struct State {
        /// The samples by span and position; each position belongs to the latest slot that was written there.
        var samples: [Span: [ActivitySample?]] = Dictionary(
            uniqueKeysWithValues: Span.allCases.map { ($0, Array(repeating: nil, count: $0.slotCount)) }
        )
        /// The last reading, from which the next sample counts.
        var last: (reading: ActivityReading, time: ContinuousClock.Instant)?
        var sampleCount = 0
    }

    private let state = Mutex(State())

    /// The time between two readings.
    package static let interval = Duration.seconds(10)
    /// The longest time between two readings of which a sample is made. After a longer one, the machine was asleep, or the process
    /// did not run, and the time is a gap.
    private static let maximumInterval = Duration.seconds(60)

    package init() {}

    /// The number of samples that have been recorded since the start.
    package var sampleCount: Int { state.withLock(\.sampleCount) }

    /// Records a reading. The first one is only what the next is compared with.
    package func record(_ reading: ActivityReading, at time: Timestamp, clock: ContinuousClock.Instant) {
        state.withLock { state in
            let last = state.last
            state.last = (reading, clock)
            guard let last else { return }
            let elapsed = clock - last.time
            let milliseconds = Int64(elapsed / .milliseconds(1))
            // The middle of the time between the readings: they are made a moment after a slot has ended.
            let seconds = (time.microseconds - milliseconds * 500) / 1_000_000
            guard milliseconds > 0, elapsed <= Self.maximumInterval, seconds > 0 else { return }
            let counts = reading.counts.since(last.reading.counts)
            state.sampleCount += 1
            for span in Span.allCases {
                let sample = ActivitySample(
                    start: span.slot(at: seconds),
                    milliseconds: milliseconds,
                    counts: counts,
                    gauges: reading.gauges
                )
                state.add(sample, in: span)
            }
        }
    }

    /// Returns the samples of the slots of a span that end with the one that contains a time, oldest first.
    package func samples(_ span: Span, until time: Timestamp) -> [ActivitySample?] {
        let samples = state.withLock { $0.samples[span] ?? [] }
        let last = span.slot(at: max(0, time.microseconds / 1_000_000))
        return (0..<span.slotCount).map { index in
            let slot = last - Int64(span.slotCount - 1 - index) * span.slotSeconds
            guard slot >= 0, let sample = samples[span.position(of: slot)], sample.start == slot else { return nil }
            return sample
        }
    }

    /// Returns all samples of a span, in no particular order.
    func allSamples(_ span: Span) -> [ActivitySample] {
        state.withLock { $0.samples[span] ?? [] }.compactMap(\.self)
    }

    /// Takes over samples that an earlier process has stored. Later ones of the same slots stay.
    func restore(_ samples: [ActivitySample], in span: Span) {
        state.withLock { state in
            for sample in samples { state.restore(sample, in: span) }
        }
    }
}

extension ActivityHistory.State {
    fileprivate mutating func add(_ sample: ActivitySample, in span: ActivityHistory.Span) {
        let position = span.position(of: sample.start)
        let known = samples[span]?[position]
        // Two readings can be in one slot, and those of an earlier process.
        samples[span]?[position] = known?.start == sample.start ? known?.merged(with: sample) : sample
    }

    fileprivate mutating func restore(_ sample: ActivitySample, in span: ActivityHistory.Span) {
        guard sample.start >= 0, sample.start % span.slotSeconds == 0 else { return }
        let position = span.position(of: sample.start)
        guard let known = samples[span]?[position] else {
            samples[span]?[position] = sample
            return
        }
        if known.start == sample.start { samples[span]?[position] = sample.merged(with: known) }
    }
}
