import Glibc

/// The measurement of a workload.
struct Measurement: Sendable {
    /// The name of the workload in the report.
    var name: String
    /// The number of operations.
    var operations: Int
    /// The unit of an operation, such as `document`, `sync` or `byte`.
    var unit: String
    /// The elapsed time of all operations.
    var elapsed: Duration
    /// The user and system CPU time of the measured process during that time.
    var processorTime: Duration
    /// The baseline workload, and the target ratio to its rate.
    var target: Target?
    /// Additional measured quantities.
    var quantities: [Quantity] = []

    /// A quantity other than a rate, such as memory.
    struct Quantity: Sendable {
        var name: String
        var value: Double
        var unit: String
        /// The maximum allowed value.
        var maximum: Double?
    }

    /// A target ratio to the rate of a baseline workload.
    struct Target: Sendable {
        var baseline: String
        var ratio: Double
    }

    /// The operations per second.
    var rate: Double { Double(operations) / (elapsed / .seconds(1)) }

    /// The CPU time per operation in microseconds.
    var processorMicroseconds: Double { processorTime / .microseconds(1) / Double(operations) }

    /// Adds the CPU time per operation as a multiple of that of another workload.
    mutating func addProcessorTime(relativeTo other: Measurement, maximum: Double? = nil) {
        let ratio = processorMicroseconds / other.processorMicroseconds
        quantities.append(Quantity(name: "CPU time relative to \(other.name)", value: ratio, unit: "×", maximum: maximum))
    }
}

extension [Double] {
    /// Returns a percentile of sorted values, rounded to hundredths; 0 if there are none.
    func percentile(_ percent: Int) -> Double {
        guard !isEmpty else { return 0 }
        return (self[Swift.min(count - 1, count * percent / 100)] * 100).rounded() / 100
    }
}

extension Measurement {
    /// Measures `body`, which performs `operations` operations.
    ///
    /// - Parameter processorTime: Returns the CPU time of the measured process; the default is this process.
    static func run(
        _ name: String,
        operations: Int,
        unit: String,
        target: Target? = nil,
        processorTime: () throws -> Duration = ownProcessorTime,
        body: () async throws -> Void
    ) async throws -> Measurement {
        let clock = ContinuousClock()
        let processorStart = try processorTime()
        let start = clock.now
        try await body()
        let elapsed = clock.now - start
        return Measurement(
            name: name,
            operations: operations,
            unit: unit,
            elapsed: elapsed,
            processorTime: try processorTime() - processorStart,
            target: target
        )
    }

    /// Returns the user and system CPU time of this process.
    static func ownProcessorTime() -> Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Int64(usage.ru_utime.tv_sec) + Int64(usage.ru_stime.tv_sec)
        let microseconds = Int64(usage.ru_utime.tv_usec) + Int64(usage.ru_stime.tv_usec)
        return .seconds(seconds) + .microseconds(microseconds)
    }
}
