import ArgumentParser
import DocumentModel
import HearthService

/// `hearth import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write documents from files, one a line.",
        discussion: """
            A line is {"path":"books/hitchhiker","fields":{…}}, as `hearth export` writes it. Each document replaces the one of \
            its path. Lines at fault are reported with file and line and passed over; then the exit code is 1. A server that \
            fails stops the import. Times in a line are not kept: the server sets its own.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "Files of documents; - is standard input.", completion: .file(extensions: ["ndjson", "jsonl"]))
    var files: [String]

    func run() async throws {
        try await server.withConnection { connection in
            var importer = DocumentImporter(connection)
            do {
                for file in files { try await importer.importFile(file) }
            } catch let error as StatusError {
                Console.standardError.report(error)
                if let note = Self.note(onStopping: importer) { Console.standardError.report(note) }
                throw ExitCode.failure
            }
            print("\(importer.writtenCount.counting("document")) imported")
            guard importer.refusedCount == 0 else {
                let were = importer.refusedCount == 1 ? "was" : "were"
                Console.standardError.report(
                    "\(importer.refusedCount.counting("line")) \(were) not imported, for the reasons above."
                )
                throw ExitCode.failure
            }
        }
    }

    /// How far an import came and how to go on; nil when it was over before it had begun.
    private static func note(onStopping importer: DocumentImporter) -> String? {
        guard importer.writtenCount > 0 || importer.failureOrigin != nil else { return nil }
        let place = importer.failureOrigin.map { " at \($0)" } ?? ""
        return """
            Stopped\(place), with \(importer.writtenCount.counting("document")) imported for certain. Once the cause is mended, \
            repeat the import: what is there already is written again as it is.
            """
    }
}
