import ArgumentParser
import DocumentModel
import HearthAPI
import HearthTransport
import UTF8Text

/// `hearth example`
struct ExampleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "example",
        abstract: "Load example data.",
        subcommands: [Load.self]
    )

    /// `hearth example load`
    struct Load: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the documents of one or more example data sets.",
            discussion: ExampleData.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "\n\n")
        )

        @OptionGroup var server: DatabaseOptions

        @Option(help: ArgumentHelp("Folder that contains Examples; found automatically by default.", valueName: "dir"))
        var assets: String?

        @Argument(help: "Data sets to load.")
        var names: [ExampleData]

        func run() async throws {
            // Reads all data sets first, so that a missing file is reported before anything is written.
            let examples = try names.map { ($0, try $0.documents(assets: assets)) }
            try await server.withConnection { connection in
                for (name, documents) in examples {
                    try await load(documents, of: name, into: connection)
                }
            }
        }

        private func load(_ documents: [ExampleDocument], of name: ExampleData, into connection: HearthConnection) async throws {
            defer { Console.standardError.endProgress() }
            var writer = BulkWriter(connection)
            for (number, document) in documents.enumerated() {
                Console.standardError.showProgress("\(name.rawValue): document \(number + 1) of \(documents.count)")
                let size = Document.size(of: document.fields, at: document.path)
                try await writer.write(document.fields, at: document.path, byteCount: size, from: document.origin)
            }
            try await writer.flush()
            Console.standardError.endProgress()
            guard writer.rejectedCount == 0 else { throw ExitCode.failure }
            print("\(name.rawValue): \(writer.writtenCount.counted("document")) written")
        }
    }
}

extension ExampleData: ExpressibleByArgument {}
