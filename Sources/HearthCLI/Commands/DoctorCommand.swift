import ArgumentParser
import DocumentModel
import FileStore
import Foundation
import HearthTransport

/// `hearth doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine an installation, and print a report for whoever helps.",
        discussion: """
            Examines the machine, the settings, the data folder with its file system, and the server if it runs. Takes the options of \
            `hearth serve`, and reads the same environment variables and configuration file. Begins with what needs attention, and \
            exits with status 1 if there is anything.

            The report has no keys and nothing from documents. It names folders, hosts and databases: read it before you publish it. \
            --metrics adds all metrics of the server. Changes nothing.
            """
    )

    @Flag(help: "Add the metrics of the server.")
    var metrics = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var options: ServeOptions

    @OptionGroup(title: "Server") var server: ServerOptions

    func run() async throws {
        var diagnosis = Diagnosis()
        diagnosis.addSystem()
        let configuration = try ServeConfiguration(ofCommandWithLength: 1)
        diagnosis.addSettings(options, configuration)
        if options.engine == nil {
            let folders = try? await DatabaseFolders.open(inFolder: options.data)
            diagnosis.addDataFolder(options.data, databases: (try? await folders?.all()) ?? [])
        }
        await addServer(to: &diagnosis)
        var output = BufferedOutput.standard()
        if json {
            try output.writeLine(diagnosis.json())
        } else {
            for line in diagnosis.lines { try output.writeLine(line.utf8) }
        }
        try output.flush()
        if !diagnosis.problems.isEmpty { throw ExitCode.failure }
    }

    /// Adds the state of the server, or why it could not be asked.
    private func addServer(to diagnosis: inout Diagnosis) async {
        var server = server
        // Unless another one is named, the server of these settings.
        if server.server == ServerOptions.standardServer { server.server = options.localURL }
        var section = Diagnosis.Section("Server")
        section.add("address", server.server)
        do {
            let (information, text) = try await server.withConnection { connection in
                (try await connection.serverInformation(), try await connection.contents(at: "/metrics"))
            }
            let status = ServerStatus(information, MetricsText(text), at: Date())
            section.add(
                "version",
                "\(information.version), up \(ServerStatus.duration(Double(information.uptime.components.seconds)))"
            )
            for row in status.rows { section.add(row.name, row.text) }
            diagnosis.add(section, problems: status.problems)
            if metrics { diagnosis.addMetrics(text) }
        } catch {
            let message = (error as? StatusError)?.message ?? "\(error)"
            section.add("state", message)
            diagnosis.add(section, problems: ["The server could not be asked: \(message)"])
        }
    }
}

extension Diagnosis {
    /// Adds the settings that differ from the defaults, and where they come from.
    fileprivate mutating func addSettings(_ options: ServeOptions, _ configuration: ServeConfiguration) {
        var section = Section("Settings")
        for setting in ServeSetting.all {
            let source = configuration.source(of: setting)
            guard source != .standard, let value = setting.value(options) else { continue }
            section.add(setting.name, "\(value.text)  (\(source))")
        }
        if section.rows.isEmpty { section.add("all", "defaults") }
        add(section)
    }

    fileprivate mutating func addMetrics(_ text: [UInt8]) {
        var section = Section("Metrics")
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            section.add(String(line[..<space]), String(line[line.index(after: space)...]))
        }
        add(section)
    }
}

extension ServeOptions {
    /// The URL of a server with these settings, for clients on its machine.
    fileprivate var localURL: String {
        let isAny = ["0.0.0.0", "::"].contains(host)
        let name = isAny ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
        return "\(tls.tlsCertificate == nil ? "http" : "https")://\(name):\(port)"
    }
}
