import ArgumentParser
import DocumentModel

/// `hearth export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write documents to a file, one a line.",
        discussion: """
            Writes the whole database, or the given documents and collections, each with all that lies below it. A line is \
            {"path":"books/hitchhiker","fields":{…}}, with every value as exact as it is stored; `hearth import` reads it.

            With --output the file is written beside the one it replaces, which stays as it is until the new one is complete. \
            Files and folders in the data folder that can't be read as documents or collections are reported and are an error: \
            then there is no new file, unless --skip-damaged is given.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Option(name: .shortAndLong, help: "The file to write instead of standard output.", completion: .file())
    var output: String?

    @Flag(help: "Leave out what can't be read, and report it without failing.")
    var skipDamaged = false

    @Argument(help: "Documents and collections; none means everything.", transform: DataPath.argument)
    var paths: [DataPath] = []

    func run() async throws {
        guard let output else { return try await export(to: .standard()) }
        let file = try ReplacedFile(at: output)
        do {
            try await Interruption.cancelling {
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
                Console.standardError.report("\(exporter.damaged.count.counting("damaged file")) could not be exported.")
                throw ExitCode.failure
            }
            if self.output != nil { print("\(exporter.documentCount.counting("document")) exported") }
        }
    }
}
