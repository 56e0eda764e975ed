import ArgumentParser
import DocumentModel

/// `hearth import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write documents from files, one a line.",
        discussion: """
            A line is {"path":"books/hitchhiker","fields":{…}}, as `hearth export` writes it. Each document replaces the one of \
            its path. Lines at fault are reported with file and line and passed over; then the exit code is 1. Times in a line \
            are not kept: the server sets its own.
            """
    )

    @OptionGroup var server: ServerOptions

    @Argument(help: "Files of documents; - is standard input.", completion: .file(extensions: ["ndjson", "jsonl"]))
    var files: [String]

    func run() async throws {
        try await server.withConnection { connection in
            var importer = DocumentImporter(connection)
            do {
                for file in files { try await importer.importFile(file) }
            } catch {
                Console.report("Stopped after \(importer.writtenCount) documents; to import again from the start does no harm.")
                throw error
            }
            print("\(importer.writtenCount) documents imported")
            guard importer.refusedCount == 0 else {
                Console.report("\(importer.refusedCount) lines were not imported, for the reasons above.")
                throw ExitCode.failure
            }
        }
    }
}
