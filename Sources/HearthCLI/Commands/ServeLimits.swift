import ArgumentParser
import DocumentStore
import HearthServer

/// How much `hearth serve` keeps and lets in.
struct ServeLimits: ParsableArguments {
    @Option(help: ArgumentHelp("How long the past can be read and followed.", valueName: "hours"))
    var keepHours = 24

    @Option(help: ArgumentHelp("How large the journal may be, and with it the past.", valueName: "MiB"))
    var keepMebibytes = 256

    @Option(help: ArgumentHelp("After how much journal the documents' files are synced in bulk.", valueName: "MiB"))
    var checkpointMebibytes = 32

    @Option(help: ArgumentHelp("How many databases beside the default one may be open at the same time.", valueName: "count"))
    var openDatabases = 16

    @Option(help: ArgumentHelp("How many watch streams may be open.", valueName: "count"))
    var watchers = 1_000

    @Option(help: ArgumentHelp("How many of them one client address may have.", valueName: "count"))
    var watchersPerAddress = 64

    @Option(help: ArgumentHelp("How many of them callers with one key may have, sessions included.", valueName: "count"))
    var watchersPerKey = 64

    func validate() throws {
        guard (0...24 * 366).contains(keepHours) else { throw ValidationError("--keep-hours is a number from 0 to 8784.") }
        guard (1...1_024).contains(checkpointMebibytes) else {
            throw ValidationError("--checkpoint-mebibytes is a number from 1 to 1024.")
        }
        let least = 3 * checkpointMebibytes
        guard (least...1 << 20).contains(keepMebibytes) else {
            throw ValidationError("--keep-mebibytes is a number from \(least), which recovery needs in any case, to 1048576.")
        }
        guard (1...1_000).contains(openDatabases) else {
            throw ValidationError("--open-databases is a number from 1 to 1000.")
        }
        guard watchers >= 0, watchersPerAddress >= 0, watchersPerKey >= 0 else {
            throw ValidationError("There can be no fewer than 0 streams.")
        }
    }

    /// Sets what concerns the store.
    func apply(to configuration: inout FileStoreConfiguration) {
        configuration.retentionAge = .seconds(keepHours * 3_600)
        configuration.retentionBytes = keepMebibytes << 20
        configuration.checkpointBytes = checkpointMebibytes << 20
    }

    /// Sets what concerns the server.
    func apply(to configuration: inout HearthServerConfiguration) {
        configuration.maximumWatchers = watchers
        configuration.maximumWatchersPerAddress = watchersPerAddress
        configuration.maximumWatchersPerKey = watchersPerKey
    }
}
