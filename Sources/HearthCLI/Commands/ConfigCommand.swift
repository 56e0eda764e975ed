import ArgumentParser
import DocumentModel
import HearthAPI
import HearthAdmin
import Logging
import StrictJSON
import UTF8Text

/// `hearth config`
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check a configuration file, and show the settings of a server.",
        subcommands: [Check.self, Show.self]
    )
}

extension ConfigCommand {
    /// `hearth config check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a configuration file, and the files that it names.",
            discussion: """
                Checks the settings of the file, without the environment: their names, kinds and ranges, and whether they fit \
                together. Reads the certificate, rules and issuers that it names, as the server would. Exit status 1 if there is an error.
                """
        )

        @Argument(
            help: ArgumentHelp("Configuration file, such as /etc/hearth/hearth.json.", valueName: "file"),
            completion: .file()
        )
        var path: String

        func run() async throws {
            let file = try ConfigurationFile(readingFrom: path)
            let configuration = try ServeConfiguration(arguments: [], environment: [:], file: file)
            let options = try configuration.options()
            do {
                try await options.checkFiles()
            } catch let error as StatusError {
                let lines = [error.message] + configuration.locations(ofOptionsIn: error.message)
                throw StatusError(error.code, lines.joined(separator: " "), file: error.file)
            }
            Console.standardError.report("\(Excerpt(path, maximumBytes: 1_000).text) is valid.")
        }
    }

    /// `hearth config show`
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the settings that a server would have, and where they come from.",
            discussion: "Takes the options of `hearth serve`, and reads the same environment variables and configuration file."
        )

        @Flag(help: "Print a JSON object.")
        var json = false

        @OptionGroup var options: ServeOptions

        func run() throws {
            let configuration = try ServeConfiguration(ofCommandWithLength: 2)
            var output = BufferedOutput.standard()
            for line in json ? [jsonText(configuration)] : table(configuration) { try output.writeLine(line.utf8) }
            try output.flush()
        }

        private func table(_ configuration: ServeConfiguration) -> [String] {
            let rows = ServeSetting.all.map { setting in
                [setting.name, setting.value(options)?.text ?? "-", configuration.source(of: setting).description]
            }
            let widths = [0, 1].map { column in rows.map { $0[column].count }.max() ?? 0 }
            return rows.map { row in
                let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                return (cells + [row[2]]).joined(separator: "  ")
            }
        }

        private func jsonText(_ configuration: ServeConfiguration) -> String {
            var writer = JSONWriter()
            writer.beginObject()
            for setting in ServeSetting.all {
                writer.key(UTF8Key(setting.name))
                writer.beginObject()
                writer.key("value")
                setting.value(options).write(to: &writer)
                writer.key("source")
                writer.string(configuration.source(of: setting).description)
                writer.key("requiresRestart")
                writer.boolean(!setting.isLive)
                writer.endObject()
            }
            writer.endObject()
            return String(decoding: writer.finish(), as: UTF8.self)
        }
    }
}

extension ServeOptions {
    /// Reads the files that the options name, as the server would, except for its data.
    ///
    /// - Throws: An error for a file that cannot be used.
    fileprivate func checkFiles() async throws {
        let logger = Logger(label: "hearth.config", factory: { _ in SwiftLogNoOpLogHandler() })
        _ = try AssetLocation.find(explicit: assets)
        _ = try ServeTLS(tls, logger: logger)
        let authentication = try await ServeAuthentication(authentication, logger: logger)
        try authentication.loadRules(in: RulesRegistry())
        _ = try trace.export(version: ServerDescription.version)
    }
}

extension ServeSetting.Value {
    /// The value as text on one line.
    var text: String {
        switch self {
        case .string(let value): Excerpt(value, maximumBytes: 1_000).text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .strings(let values):
            values.isEmpty ? "-" : values.map { Excerpt($0, maximumBytes: 1_000).text }.joined(separator: ",")
        }
    }
}

extension ServeSetting.Value? {
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case nil: writer.null()
        case .string(let value): writer.string(value)
        case .integer(let value): writer.integer(Int64(value))
        case .number(let value): writer.double(value)
        case .boolean(let value): writer.boolean(value)
        case .strings(let values):
            writer.beginArray()
            for value in values { writer.string(value) }
            writer.endArray()
        }
    }
}
