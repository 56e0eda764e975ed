import ArgumentParser
import DocumentModel
import FileStore
import HearthAPI
import Logging
import PostgresStore
import UTF8Text

/// `hearth import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import documents from files with one JSON document per line.",
        discussion: """
            Each line is {"path":"books/hitchhiker","fields":{…}}, as written by `hearth export`. A document replaces any \
            existing document at its path. Invalid lines are reported with file name and line number and skipped, and the exit \
            status is 1. A server error stops the import. The server assigns new create and update times.

            With --data, makes a new data folder of the documents instead, for a server to be started on. With --engine, fills an empty \
            database of an engine. The documents keep the times that the lines have, as written by `hearth export --times`.
            """
    )

    @OptionGroup var server: DatabaseOptions

    @Option(
        help: ArgumentHelp("Make this data folder, and keep the times of the documents. It must not exist.", valueName: "dir"),
        completion: .directory
    )
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Fill an empty database of this engine, that of hearth serve --engine, and keep the times of the documents.",
            valueName: "url"
        )
    )
    var engine: String?

    @Argument(help: "Files to import; - reads standard input.", completion: .file(extensions: ["ndjson", "jsonl"]))
    var files: [String]

    func validate() throws {
        guard data == nil || engine == nil else { throw ValidationError("--data and --engine exclude each other.") }
    }

    func run() async throws {
        if let data {
            try await makeFolder(data)
        } else if let engine {
            try await fillDatabase(of: engine)
        } else {
            try await server.withConnectionOfLongWork { connection in
                try await importFiles(DocumentImporter(connection))
            }
        }
    }

    private func makeFolder(_ path: String) async throws {
        let folder = try await DataFolderImport.begin(at: path)
        do {
            let importer = DocumentImporter(until: folder.time) { documents throws(StatusError) in
                try await folder.write(documents)
            }
            try await importFiles(importer) { () throws(StatusError) in try await folder.complete() }
        } catch {
            await folder.discard()
            throw error
        }
    }

    private func fillDatabase(of url: String) async throws {
        let logger = Logger(label: "hearth.engine") { _ in LineLogHandler.standardError }
        let configuration = PostgresConfiguration(try EngineAddress(url))
        let filling = try await EngineImport.begin(configuration, database: server.databaseID, logger: logger)
        do {
            let importer = DocumentImporter(until: filling.time) { documents throws(StatusError) in
                try await filling.write(documents)
            }
            try await importFiles(importer) { () throws(StatusError) in try await filling.complete() }
        } catch {
            // Invalid lines are left out of a complete import.
            do {
                try await filling.discard()
            } catch {
                Console.standardError.report(error)
            }
            throw error
        }
    }

    /// - Parameter complete: Called once all lines have been imported, or rejected.
    private func importFiles<Element>(
        _ importer: consuming DocumentImporter<Element>,
        complete: () async throws(StatusError) -> Void = {}
    ) async throws {
        var importer = importer
        do {
            for file in files { try await importer.importFile(file) }
            try await complete()
        } catch {
            Console.standardError.report(error)
            if data == nil, engine == nil, let note = Self.resumeNote(for: importer) { Console.standardError.report(note) }
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

    /// The progress of a failed import and how to resume it; `nil` if it failed before sending anything.
    private static func resumeNote<Element>(for importer: DocumentImporter<Element>) -> String? {
        guard importer.writtenCount > 0 || importer.firstUnacknowledgedOrigin != nil else { return nil }
        let location = importer.firstUnacknowledgedOrigin.map { " at \($0)" } ?? ""
        return """
            Import stopped\(location): \(importer.writtenCount.counted("document")) imported; later ones may or may not have been \
            written. Fix the cause and run the import again: it overwrites documents that were already imported.
            """
    }
}
