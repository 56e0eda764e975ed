/// The upper bounds of a histogram's buckets, and the unit of what is recorded.
package struct HistogramBuckets: Sendable {
    /// The bounds as exported, in the base unit, ascending; a last bucket, without a bound, follows them.
    package let bounds: [Double]
    /// The bounds in the unit of recorded values.
    let recordedBounds: [UInt64]
    /// The number of recorded units in the base unit.
    let unitsPerBase: Double

    /// - Parameter unitsPerBase: The number of recorded units in the base unit, such as 1,000,000,000 nanoseconds in a second.
    package init(_ bounds: [Double], unitsPerBase: Double = 1) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "The bounds ascend.")
        self.bounds = bounds
        self.unitsPerBase = unitsPerBase
        recordedBounds = bounds.map { UInt64(($0 * unitsPerBase).rounded()) }
    }

    /// The durations of calls and of disk operations, recorded in nanoseconds.
    package static let seconds = HistogramBuckets(
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
        unitsPerBase: 1e9
    )

    /// The numbers of commits in a batch.
    package static let batchSizes = HistogramBuckets([1, 2, 5, 10, 25, 50, 100, 250, 500])

    /// Returns a quantile of values that were counted by bucket, interpolated within its bucket, as Prometheus estimates it.
    ///
    /// - Parameters:
    ///   - quantile: Between 0 and 1.
    ///   - counts: The values of each bucket alone, as many as bounds and one more.
    /// - Returns: The quantile in the base unit, the greatest bound at most; `nil` without values.
    package func quantile(_ quantile: Double, of counts: [UInt64]) -> Double? {
        let rank = quantile * Double(counts.reduce(0, +))
        var below = 0.0
        for (index, bound) in bounds.enumerated() {
            let count = Double(counts[index])
            if count > 0, below + count >= rank {
                let lower = index > 0 ? bounds[index - 1] : 0
                return lower + (bound - lower) * (rank - below) / count
            }
            below += count
        }
        return counts[bounds.count] > 0 ? bounds.last : nil
    }

    /// Returns the index of the first bucket whose bound is at least a recorded value.
    func index(of value: UInt64) -> Int {
        var range = 0..<recordedBounds.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if recordedBounds[middle] < value {
                range = (middle + 1)..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }
}
