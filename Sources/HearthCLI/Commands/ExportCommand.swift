import ArgumentParser
import DocumentModel
import UTF8Text

/// `hearth export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export documents as JSON, one per line.",
        discussion: """
            Exports the whole database, or the given documents and collections, including their subcollections. Each line is \
            {"path":"books/hitchhiker","fields":{…}} and preserves every value exactly; `hearth import` reads this format.

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

    @Argument(help: "Documents and collections to export; the default is the whole database.", transform: ResourcePath.argument)
    var paths: [ResourcePath] = []

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
        try await server.withConnection { connection in
            var exporter = DocumentExporter(connection, to: output)
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
