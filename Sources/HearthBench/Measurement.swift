import Glibc

/// What one workload took.
struct Measurement: Sendable {
    /// The workload, as the report prints it.
    var name: String
    /// How many operations were done, counted in `unit`.
    var operations: Int
    /// What one operation is: `document`, `sync`, `byte`.
    var unit: String
    /// Time from the first operation's start to the last one's end.
    var elapsed: Duration
    /// Processor time of the process that is charged, user and system, in the same span.
    var processorTime: Duration
    /// The workload whose rate is this one's limit, and the share of it that is aimed for.
    var target: Target?
    /// What else was measured meanwhile.
    var quantities: [Quantity] = []

    /// Something that is not a rate, such as memory.
    struct Quantity: Sendable {
        var name: String
        var value: Double
        var unit: String
        /// What it must not exceed.
        var maximum: Double?
    }

    /// The yardstick a measurement is held against.
    struct Target: Sendable {
        var limit: String
        var share: Double
    }

    /// Operations a second.
    var rate: Double { Double(operations) / (elapsed / .seconds(1)) }

    /// Microseconds of processor time an operation.
    var processorMicroseconds: Double { processorTime / .microseconds(1) / Double(operations) }
}

extension Measurement {
    /// Runs `body`, which does `operations` operations, and measures it.
    ///
    /// - Parameter processorTime: What the process that is charged has used so far; this one, when it isn't said.
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

    /// User and system time that this process has used so far.
    static func ownProcessorTime() -> Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Int64(usage.ru_utime.tv_sec) + Int64(usage.ru_stime.tv_sec)
        let microseconds = Int64(usage.ru_utime.tv_usec) + Int64(usage.ru_stime.tv_usec)
        return .seconds(seconds) + .microseconds(microseconds)
    }
}
