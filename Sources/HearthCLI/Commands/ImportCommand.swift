import ArgumentParser
import DocumentModel
import HearthAPI
import UTF8Text

/// `hearth import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import documents from files with one JSON document per line.",
        discussion: """
            Each line is {"path":"books/hitchhiker","fields":{…}}, as written by `hearth export`. A document replaces any \
            existing document at its path. Invalid lines are reported with file name and line number and skipped, and the exit \
            status is 1. A server error stops the import. Timestamps of the original documents are not preserved: the server \
            assigns new create and update times.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Argument(help: "Files to import; - reads standard input.", completion: .file(extensions: ["ndjson", "jsonl"]))
    var files: [String]

    func run() async throws {
        try await server.withConnection { connection in
            var importer = DocumentImporter(connection)
            do {
                for file in files { try await importer.importFile(file) }
            } catch let error as StatusError {
                Console.standardError.report(error)
                if let note = Self.resumeNote(for: importer) { Console.standardError.report(note) }
                throw ExitCode.failure
            }
            print("\(importer.writtenCount.counted("document")) imported")
            guard importer.rejectedCount == 0 else {
                Console.standardError.report(
                    "\(importer.rejectedCount.counted("line")) not imported because of the errors above."
                )
                throw ExitCode.failure
            }
        }
    }

    /// The progress of a failed import and how to resume it; `nil` if it failed before sending anything.
    private static func resumeNote(for importer: DocumentImporter) -> String? {
        guard importer.writtenCount > 0 || importer.firstUnacknowledgedOrigin != nil else { return nil }
        let location = importer.firstUnacknowledgedOrigin.map { " at \($0)" } ?? ""
        return """
            Import stopped\(location): \(importer.writtenCount.counted("document")) imported; later ones may or may not have been \
            written. Fix the cause and run the import again: it overwrites documents that were already imported.
            """
    }
}
