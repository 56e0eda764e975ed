import ArgumentParser
import DocumentModel
import Foundation
import Testing

@testable import HearthCLI

@Suite("Settings of a server")
struct ServeConfigurationTests {
    private func configuration(
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        file: String? = nil
    ) throws -> ServeConfiguration {
        let file = try file.map { try ConfigurationFile(Array($0.utf8), path: "f.json") }
        return try ServeConfiguration(arguments: arguments, environment: environment, file: file)
    }

    private func source(_ name: String, in configuration: ServeConfiguration) throws -> ServeConfiguration.Source {
        configuration.source(of: try #require(ServeSetting.all.first { $0.name == name }))
    }

    @Test func `Options come before environment variables, these before the file, and the defaults last`() throws {
        let file = #"{"port": 1, "watchers": 2, "keepHours": 3}"#
        let configuration = try configuration(
            ["--port", "10"],
            environment: ["HEARTH_PORT": "20", "HEARTH_WATCHERS": "30"],
            file: file
        )
        let options = try configuration.options()
        #expect(options.port == 10 && options.limits.watchers == 30 && options.limits.keepHours == 3)
        #expect(options.limits.keepMebibytes == 256)
        #expect(try source("port", in: configuration) == .option("--port"))
        #expect(try source("watchers", in: configuration) == .variable("HEARTH_WATCHERS"))
        #expect(try source("keepHours", in: configuration) == .file(path: "f.json", line: 1))
        #expect(try source("keepMebibytes", in: configuration) == .standard)
    }

    @Test func `A list is replaced by one of a higher source, not extended`() throws {
        let file = #"{"allowHost": ["a", "b"]}"#
        #expect(try configuration(file: file).options().allowHost == ["a", "b"])
        #expect(try configuration(environment: ["HEARTH_ALLOW_HOST": "c,d"], file: file).options().allowHost == ["c", "d"])
        #expect(try configuration(["--allow-host=e"], file: file).options().allowHost == ["e"])
    }

    @Test(arguments: [("true", true), ("false", false), ("TRUE", true), ("1", true), ("0", false)])
    func `A switch of the file can be turned off`(variable: String, value: Bool) throws {
        let environment = ["HEARTH_ALLOW_CLEARING": variable]
        #expect(try configuration(environment: environment, file: #"{"allowClearing": true}"#).options().allowClearing == value)
        #expect(try !configuration(["--no-allow-clearing"], environment: environment).options().allowClearing)
        #expect(try configuration(["--allow-clearing"], environment: environment).options().allowClearing)
    }

    @Test func `An empty variable is one that is not set`() throws {
        #expect(try configuration(environment: ["HEARTH_PORT": ""], file: #"{"port": 9}"#).options().port == 9)
    }

    @Test(arguments: [
        ("HEARTH_PORT", "tcp://10.0.0.1:8080", "an integer"), ("HEARTH_EMULATOR", "perhaps", "true or false"),
        ("HEARTH_TRACE_SAMPLE_RATIO", "half", "a number"),
    ])
    func `An invalid variable is refused by name`(name: String, value: String, expectation: String) throws {
        let error = try #require(throws: StatusError.self) { try configuration(environment: [name: value]) }
        #expect(error.message == "The environment variable \(name) is not \(expectation).")
    }

    @Test func `A value that begins like an option is a value`() throws {
        #expect(try configuration(environment: ["HEARTH_DATA": "--data"]).options().data == "--data")
    }

    @Test func `The file is named by the option or by the environment, and must exist`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "h.json").path
        try Data(#"{"port": 5}"#.utf8).write(to: URL(filePath: path))
        for (arguments, environment) in [
            (["--config", path], [:]), (["--config=\(path)"], ["HEARTH_CONFIG": "/nowhere"]), ([], ["HEARTH_CONFIG": path]),
        ] {
            #expect(try ServeConfiguration(arguments: arguments, environment: environment).options().port == 5)
        }
        let error = #expect(throws: StatusError.self) {
            try ServeConfiguration(arguments: ["--config", path + "x"], environment: [:])
        }
        #expect(error?.code == .notFound)
    }

    @Test func `Each option of the command is a setting, and each setting is an option`() {
        let help = ServeCommand.helpMessage(includeHidden: true, columns: 200)
        let options = help.matches(of: /(?m)^  (--[a-z0-9-]+)/).map { String($0.1) }
        #expect(Set(options).subtracting(["--config", "--version", "--help"]) == Set(ServeSetting.all.map(\.option)))
    }

    @Test(arguments: [
        ["--engine", "postgresql://a/b", "--data", "c"], ["--engine", "postgresql://a/b", "--backups", "c"],
        ["--engine", "postgresql://u:secret@a/b"], ["--engine", "a"],
        ["--server-folder", "a"], ["--server-url", "http://a"], ["--server-ca", "a"],
        ["--engine", "postgresql://a/b", "--server-ca", "a"],
        ["--engine", "postgresql://a/b", "--server-url", "http://u:secret@a"],
        ["--engine", "postgresql://a/b", "--server-url", "a"],
    ])
    func `An engine excludes what only a data folder has, and has no password in its URL`(_ arguments: [String]) throws {
        let error = #expect(throws: (any Error).self) { try ServeOptions.parse(arguments) }
        #expect(error.map { ServeOptions.message(for: $0).contains("secret") } == false)
    }

    @Test func `Each setting of a file reaches the option of its name`() throws {
        let values: KeyValuePairs<String, ServeSetting.Value> = [
            "data": .string("a"), "engine": .string("postgresql://s/t"), "serverFolder": .string("u"),
            "serverURL": .string("http://v"), "serverCA": .string("w"),
            "groupAccess": .string("edit"), "host": .string("::1"), "port": .integer(1),
            "allowHost": .strings(["b"]),
            "corsOrigin": .strings(["http://c"]), "imageOrigin": .strings(["https://i"]),
            "trustedProxy": .strings(["10.0.0.0/8"]), "project": .string("project-d"),
            "allowClearing": .boolean(true), "notificationStatus": .integer(200), "drainSeconds": .integer(30),
            "assets": .string("e"),
            "tlsCertificate": .string("f"), "tlsKey": .string("g"), "tlsClientCA": .string("h"),
            "tlsMinimumVersion": .string("1.3"),
            "backups": .string("i"), "backupHours": .integer(2), "keepBackups": .integer(3), "archiveSeconds": .integer(4),
            "follow": .string("http://n"), "followKey": .string("o"), "followCA": .string("p"),
            "rules": .string("j"), "authFirebaseProject": .string("project-k"), "authIssuers": .string("l"),
            "emulator": .boolean(true), "folderEdits": .boolean(false), "folderEditQuietMs": .integer(19),
            "folderEditKeepText": .boolean(true), "folderEditRules": .boolean(true), "folderEditDeletions": .integer(20),
            "keepHours": .integer(5),
            "keepMebibytes": .integer(600),
            "checkpointMebibytes": .integer(7),
            "checkpointDocuments": .integer(800), "openDatabases": .integer(9), "watchers": .integer(10),
            "watchersPerAddress": .integer(11), "watchersPerKey": .integer(12),
            "queueMs": .integer(18), "callRatePerAddress": .integer(14), "callBurstPerAddress": .integer(15),
            "callRatePerKey": .integer(16),
            "callBurstPerKey": .integer(17), "logFormat": .string("json"),
            "logLevel": .string("debug"), "accessLog": .boolean(true),
            "slowCallMs": .integer(13), "auditLog": .string("m"), "traceEndpoint": .string("http://n:4318"),
            "traceSampleRatio": .number(0.25), "traceServiceName": .string("o"), "traceAttribute": .strings(["p=q"]),
            "traceHeaders": .string("r"),
        ]
        let members = values.map { name, value in
            switch value {
            case .string(let text): "\"\(name)\": \"\(text)\""
            case .integer(let number): "\"\(name)\": \(number)"
            case .number(let number): "\"\(name)\": \(number)"
            case .boolean(let value): "\"\(name)\": \(value)"
            case .strings(let texts): "\"\(name)\": \(texts)"
            }
        }
        // An engine and a data folder exclude each other.
        let isOfEngine = { (name: String) in ["engine", "serverFolder", "serverURL", "serverCA"].contains(name) }
        let options = try [false, true].map { ofEngine in
            let selected = zip(values, members).filter { isOfEngine($0.0.key) == ofEngine }.map(\.1)
            return try configuration(file: "{\(selected.joined(separator: ", "))}").options()
        }
        let defaults = try configuration().options()
        #expect(values.map(\.key) == ServeSetting.all.map(\.name))
        for (setting, (name, value)) in zip(ServeSetting.all, values) {
            #expect(setting.value(options[isOfEngine(name) ? 1 : 0]) == value)
            #expect(setting.value(defaults) != value)
        }
    }

    @Test func `OpenTelemetry's variables come after the server's own, and before the file`() throws {
        let environment = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1", "OTEL_TRACES_SAMPLER_ARG": "0.5", "OTEL_SERVICE_NAME": "b",
        ]
        let file = #"{"traceEndpoint": "http://c:3", "traceSampleRatio": 1}"#
        var configuration = try configuration(environment: environment, file: file)
        #expect(try configuration.options().trace.traceEndpoint == "http://a:1")
        #expect(try configuration.options().trace.traceSampleRatio == 0.5)
        #expect(try source("traceEndpoint", in: configuration) == .variable("OTEL_EXPORTER_OTLP_ENDPOINT"))
        let own = environment.merging(["HEARTH_TRACE_ENDPOINT": "http://d:4"]) { $1 }
        configuration = try self.configuration(environment: own, file: file)
        #expect(try configuration.options().trace.traceEndpoint == "http://d:4")
        #expect(try self.configuration(file: file).options().trace.traceSampleRatio == 1)
    }

    @Test func `A variable of OpenTelemetry that is meant for other programs is ignored`() throws {
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317", "OTEL_TRACES_SAMPLER_ARG": "endpoint=http://a"]
        let options = try configuration(environment: environment, file: #"{"traceSampleRatio": 0.5}"#).options()
        #expect(options.trace.traceEndpoint == nil && options.trace.traceSampleRatio == 0.5)
    }

    @Test(arguments: [("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_EXPORTER", "none")])
    func `OpenTelemetry can be turned off for a process`(_ name: String, _ value: String) throws {
        let options = try configuration(["--trace-endpoint", "http://a:1"]).options()
        #expect(try options.trace.export(version: "1", environment: [:]) != nil)
        #expect(try options.trace.export(version: "1", environment: [name: value]) == nil)
    }

    @Test func `Headers for a collector require one`() {
        #expect(throws: (any Error).self) { try configuration(["--trace-headers", "f"]).options() }
    }

    @Test func `The manual has each setting, with its names, and whether a change requires a restart`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let manual = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        let rows = manual.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) }
        }
        #expect(rows.map { $0[0] } == ServeSetting.all.map(\.name))
        #expect(rows.map { $0[1] } == ServeSetting.all.map(\.option))
        #expect(rows.map { $0[2] } == ServeSetting.all.map(\.variable))
        #expect(rows.map { $0[3] } == ServeSetting.all.map { $0.isLive ? "reload" : "restart" })
    }
}
