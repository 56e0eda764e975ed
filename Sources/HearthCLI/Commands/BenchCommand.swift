import ArgumentParser
import DocumentModel
import StorageIO

/// `hearth bench`
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure a disk.",
        subcommands: [Disk.self]
    )
}

extension BenchCommand {
    /// `hearth bench disk`
    struct Disk: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure how fast a disk makes commits durable, and say whether that suffices.",
            discussion: """
                Writes in a folder on the disk as a server does: records of 2 KiB that are appended to a preallocated file and synced one \
                by one, as the journal is by commits that come one after the other; and small files that are written and linked, as \
                documents are. Leaves nothing behind. Commits at the same time share syncs, so that a server makes more of them.
                """
        )

        @Argument(help: ArgumentHelp("Folder on the disk, such as that of the data.", valueName: "dir"), completion: .directory)
        var folder: String

        @Option(help: ArgumentHelp("Duration of the measurement.", valueName: "seconds"))
        var seconds = 10

        func validate() throws {
            guard (1...600).contains(seconds) else { throw ValidationError("--seconds must be between 1 and 600.") }
        }

        func run() async throws {
            let result = try await DiskBenchmark.run(inFolder: folder, for: .seconds(seconds))
            print(
                "syncs        \(result.syncs.rate) per second; 50 % within \(result.syncs.median), 99 % within \(result.syncs.slow)"
            )
            print(
                "small files  \(result.files.rate) per second; 50 % within \(result.files.median), 99 % within \(result.files.slow)"
            )
            print(result.verdict)
        }
    }
}

extension DiskBenchmark.Series {
    fileprivate var rate: Int { Int(operationsPerSecond.rounded()) }
    fileprivate var median: String { Self.text(percentile(50)) }
    fileprivate var slow: String { Self.text(percentile(99)) }

    private static func text(_ duration: Duration) -> String {
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        return microseconds < 10_000 ? "\(microseconds) µs" : "\(microseconds / 1_000) ms"
    }
}

extension DiskBenchmark.Result {
    /// A sentence that says whether the disk suffices. The limits are those that etcd's manual gives for its log.
    fileprivate var verdict: String {
        let slow = syncs.percentile(99)
        if slow < .milliseconds(10) { return "Good: 99 % of syncs take less than 10 ms." }
        if slow < .milliseconds(25) { return "Sufficient for few commits at a time: 99 % of syncs should take less than 10 ms." }
        return "Slow: each commit waits for a sync, and 99 % of them should take less than 10 ms. Use a local SSD."
    }
}
