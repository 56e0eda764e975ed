import ArgumentParser
import DocumentModel
import HearthTransport
import UTF8Text

/// `hearth export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export documents as JSON, one per line.",
        discussion: """
            Exports the whole database, or the given documents and collections, including their subcollections. Each line is \
            {"path":"books/hitchhiker","fields":{…}} and preserves every value exactly; `hearth import` reads this format.

            All documents are exported as of one commit: the last one when the export begins, or that of --read-time. A database that \
            changes so fast that its history does not reach back to the begin of the export needs more of it (--keep-mebibytes).

            With --output, an existing file is replaced atomically when the export is complete. Files and folders in the data \
            folder that cannot be read as documents or collections are reported on standard error, the export fails and no \
            output file is written, unless --skip-damaged is given.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Option(name: .shortAndLong, help: "Output file; the default is standard output.", completion: .file())
    var output: String?

    @Flag(help: "Skip damaged files: report them without failing.")
    var skipDamaged = false

    @Option(
        help: ArgumentHelp(
            "Export the documents as of this time, such as 2026-11-26T18:00:00Z, within the history of the server.",
            valueName: "time"
        ),
        transform: Self.time
    )
    var readTime: Timestamp?

    @Flag(help: "Add the create and update time of each document to its line. An import gives documents new ones.")
    var times = false

    @Argument(help: "Documents and collections to export; the default is the whole database.", transform: ResourcePath.argument)
    var paths: [ResourcePath] = []

    private static func time(_ text: String) throws -> Timestamp {
        do throws(StatusError) {
            return try Timestamp(rfc3339: text)
        } catch {
            throw ValidationError("--read-time: \(error.message)")
        }
    }

    func run() async throws {
        guard let output else { return try await export(to: .standard()) }
        let file = try AtomicOutputFile(at: output)
        do {
            try await TerminationSignal.cancelOnReceipt {
                try await export(to: BufferedOutput(descriptor: file.descriptor, name: output))
            }
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
    }

    private func export(to output: BufferedOutput) async throws {
        defer { Console.standardError.endProgress() }
        try await server.withConnectionOfLongWork { connection in
            var readTime = readTime
            if readTime == nil { readTime = try await connection.serverInformation().commitTime }
            var exporter = DocumentExporter(connection, readTime: readTime, includingTimes: times, to: output)
            if paths.isEmpty { try await exporter.exportDatabase() }
            for path in paths { try await exporter.export(path) }
            Console.standardError.endProgress()
            for error in exporter.damaged { Console.standardError.report(error) }
            guard exporter.damaged.isEmpty || skipDamaged else {
                Console.standardError.report("\(exporter.damaged.count.counted("damaged file")) could not be exported.")
                throw ExitCode.failure
            }
            if self.output != nil { print("\(exporter.documentCount.counted("document")) exported") }
        }
    }
}
