import ArgumentParser
import DocumentModel
import HearthTransport
import HearthWire
import StrictJSON
import UTF8Text

extension RulesCommand {
    /// `hearth rules deploy`
    struct Deploy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the security rules of a database.",
            discussion: """
                The rules are checked before they take effect, for every next request and open stream. Prints their version, and \
                the warnings of the compiler to standard error. `hearth rules deploy --version VERSION` goes back to an earlier \
                version, as printed by `hearth rules show --versions`.
                """
        )

        @OptionGroup var server: DatabaseOptions

        @Argument(help: ArgumentHelp("Rules file, such as firestore.rules; - for standard input.", valueName: "file"))
        var path: String?

        @Option(name: .customLong("version"), help: ArgumentHelp("Earlier version to go back to.", valueName: "version"))
        var rulesVersion: String?

        func validate() throws {
            guard (path == nil) != (rulesVersion == nil) else {
                throw ValidationError("Expected a rules file or --version.")
            }
        }

        func run() async throws {
            let text = try path.map(RulesCommand.text(ofFile:))
            let result = try await server.withConnection { connection in
                try await connection.call("rules.set") { writer in
                    if let text { writer.member(RulesKeys.rules, text) }
                    if let rulesVersion { writer.member(RulesKeys.version, rulesVersion) }
                }
            }
            for warning in (result[RulesKeys.warnings]?.elements).map(Array.init) ?? [] {
                Console.standardError.report("\(path ?? "rules"):\(warning.string ?? "")")
            }
            var output = BufferedOutput.standard()
            try output.writeLine((result[RulesKeys.version]?.string ?? "").utf8)
            try output.flush()
        }
    }

    /// `hearth rules show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the security rules of a database.",
            discussion: "Without rules, the database is closed to end users; the exit status is then 1."
        )

        @OptionGroup var server: DatabaseOptions

        @Option(name: .customLong("version"), help: ArgumentHelp("Earlier version to print.", valueName: "version"))
        var rulesVersion: String?

        @Flag(help: "Print the versions instead, newest first, each with the time at which it was replaced.")
        var versions = false

        func run() async throws {
            let result = try await server.withConnection { connection in
                try await connection.call("rules.get") { writer in
                    if let rulesVersion { writer.member(RulesKeys.version, rulesVersion) }
                }
            }
            if let problem = result[RulesKeys.problem]?.string {
                Console.standardError.report("The file firestore.rules of the database is not in use. \(problem)")
            }
            var output = BufferedOutput.standard()
            if versions {
                if let active = result[RulesKeys.version]?.string { try output.writeLine("\(active) active".utf8) }
                for version in (result[RulesKeys.versions]?.elements).map(Array.init) ?? [] {
                    let time = version[RulesKeys.replaceTime]?.string ?? ""
                    try output.writeLine("\(version[RulesKeys.version]?.string ?? "") \(time)".utf8)
                }
                return try output.flush()
            }
            guard let text = result[RulesKeys.rules]?.string else {
                Console.standardError.report("The database has no security rules.")
                throw ExitCode.failure
            }
            let lines = text.utf8.last == UInt8(ascii: "\n") ? text.utf8.dropLast() : text.utf8[...]
            try output.writeLine(lines)
            try output.flush()
        }
    }

    /// Returns the text of a rules file.
    static func text(ofFile path: String) throws(StatusError) -> String {
        let file = try InputFile(path)
        let bytes = try file.readToEnd(maximumBytes: maximumFileBytes)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StatusError(.invalidArgument, "\(file.name) is not valid UTF-8.")
        }
        return text
    }

    /// The maximum size of a rules file, that of Firestore.
    private static let maximumFileBytes = 256 << 10
}
