import ArgumentParser
import DocumentStore
import FileStore
import HearthAPI
import HearthHTTP
import PostgresStore

/// Retention, stream and rate limits of `hearth serve`.
struct ServeLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long history is retained for point-in-time reads and resumed watches.", valueName: "hours"))
    var keepHours = 24

    @Option(help: ArgumentHelp("Maximum size of the journal, which holds the history.", valueName: "MiB"))
    var keepMebibytes = 256

    @Option(help: ArgumentHelp("Journal size between checkpoints, which sync document files in bulk.", valueName: "MiB"))
    var checkpointMebibytes = 32

    @Option(
        help: ArgumentHelp(
            "Number of changed documents between checkpoints, which bounds the time of a recovery.",
            valueName: "count"
        )
    )
    var checkpointDocuments = 20_000

    @Option(help: ArgumentHelp("Maximum number of additional databases open at the same time.", valueName: "count"))
    var openDatabases = 16

    @Option(help: ArgumentHelp("Maximum number of open watch streams.", valueName: "count"))
    var watchers = 2_000

    @Option(help: ArgumentHelp("Maximum number of watch streams per client address.", valueName: "count"))
    var watchersPerAddress = 500

    @Option(
        help: ArgumentHelp("Maximum number of watch streams per API key, including its browser sessions.", valueName: "count")
    )
    var watchersPerKey = 500

    @Option(
        help: ArgumentHelp(
            "Time that a call may wait before its work begins, after which it is refused; 0 for no limit.",
            valueName: "ms"
        )
    )
    var queueMs = 2_000

    @Option(
        help: ArgumentHelp(
            "Calls per second that a client address may send, an IPv6 address by its /64 network; 0 for any number.",
            valueName: "count"
        )
    )
    var callRatePerAddress = 0

    @Option(
        help: ArgumentHelp("Calls that a client address may send at once; those of 10 seconds by default.", valueName: "count")
    )
    var callBurstPerAddress: Int?

    @Option(help: ArgumentHelp("Calls per second of an API key or an end user; 0 for any number.", valueName: "count"))
    var callRatePerKey = 0

    @Option(
        help: ArgumentHelp("Calls of an API key or an end user at once; those of 10 seconds by default.", valueName: "count")
    )
    var callBurstPerKey: Int?

    func validate() throws {
        guard (0...24 * 366).contains(keepHours) else { throw ValidationError("--keep-hours must be between 0 and 8784.") }
        guard (1...1_024).contains(checkpointMebibytes) else {
            throw ValidationError("--checkpoint-mebibytes must be between 1 and 1024.")
        }
        guard (100...10_000_000).contains(checkpointDocuments) else {
            throw ValidationError("--checkpoint-documents must be between 100 and 10000000.")
        }
        let minimum = 3 * checkpointMebibytes
        guard (minimum...1 << 20).contains(keepMebibytes) else {
            throw ValidationError("--keep-mebibytes must be between \(minimum), the minimum for recovery, and 1048576.")
        }
        guard (1...1_000).contains(openDatabases) else {
            throw ValidationError("--open-databases must be between 1 and 1000.")
        }
        guard watchers >= 0, watchersPerAddress >= 0, watchersPerKey >= 0 else {
            throw ValidationError("--watchers, --watchers-per-address and --watchers-per-key must not be negative.")
        }
        guard (0...30_000).contains(queueMs) else { throw ValidationError("--queue-ms must be between 0 and 30000.") }
        for (option, rate) in [("address", callRatePerAddress), ("key", callRatePerKey)] where !(0...1_000_000).contains(rate) {
            throw ValidationError("--call-rate-per-\(option) must be between 0, for no limit, and 1000000.")
        }
        for (option, burst) in [("address", callBurstPerAddress), ("key", callBurstPerKey)] {
            guard let burst, !(1...1_000_000).contains(burst) else { continue }
            throw ValidationError("--call-burst-per-\(option) must be between 1 and 1000000.")
        }
    }

    /// Applies the retention limits to the store configuration.
    func apply(to configuration: inout FileStoreConfiguration) {
        configuration.retentionAge = .seconds(keepHours * 3_600)
        configuration.retentionBytes = keepMebibytes << 20
        configuration.checkpointBytes = checkpointMebibytes << 20
        configuration.checkpointDocuments = checkpointDocuments
    }

    /// Applies the retention limit to the configuration of an engine, which has no others.
    func apply(to configuration: inout PostgresConfiguration) {
        configuration.retentionAge = .seconds(keepHours * 3_600)
    }

    /// The limits on calls.
    var calls: ServiceLimits {
        ServiceLimits(queueTime: queueMs > 0 ? .milliseconds(queueMs) : nil)
    }

    /// Applies the limits on streams and on the rate of calls to the server configuration.
    func apply(to configuration: inout HTTPServerConfiguration) {
        configuration.maximumWatchers = watchers
        configuration.maximumWatchersPerAddress = watchersPerAddress
        configuration.maximumWatchersPerKey = watchersPerKey
        configuration.callRatePerAddress = callRatePerAddress
        configuration.callBurstPerAddress = callBurstPerAddress
        configuration.callRatePerKey = callRatePerKey
        configuration.callBurstPerKey = callBurstPerKey
    }
}
