import DocumentModel
import Testing

@testable import HearthCLI

@Suite("Configuration files")
struct ConfigurationFileTests {
    @Test(
        arguments: [
            ("", 1, 1, "not valid JSON"),
            ("{\"port\": 1,}", 1, 12, "not valid JSON"),
            ("{\n  \"port\": 1,\n  \"port\": 2\n}", 3, 3, "not valid JSON"),
            ("[]", 1, 1, "Expected an object"),
            ("null", 1, 1, "Expected an object"),
            ("{\n  \"prot\": 1\n}", 2, 11, "no setting \"prot\""),
            ("{\"Port\": 1}", 1, 10, "Did you mean port?"),
            ("{\"allowHosts\": []}", 1, 16, "Did you mean allowHost?"),
            ("{\"trusted-proxy\": []}", 1, 19, "Did you mean trustedProxy?"),
            ("{\"config\": \"other.json\"}", 1, 12, "no setting \"config\""),
            ("{\"port\": \"8080\"}", 1, 10, "port: Expected an integer, found \\\"8080\\\"."),
            ("{\"port\": 8080.5}", 1, 10, "found 8080.5"),
            ("{\"port\": 99999999999999999999}", 1, 10, "Expected an integer"),
            ("{\"port\": null}", 1, 10, "found null"),
            ("{\"host\": 1}", 1, 10, "host: Expected a string"),
            ("{\"data\": \"\"}", 1, 10, "data: Expected a path"),
            ("{\"emulator\": \"true\"}", 1, 14, "emulator: Expected true or false"),
            ("{\"traceSampleRatio\": \"0.1\"}", 1, 22, "traceSampleRatio: Expected a number"),
            ("{\"traceSampleRatio\": 1e999}", 1, 22, "traceSampleRatio: Expected a number"),
            ("{\"allowHost\": \"a\"}", 1, 15, "allowHost: Expected a list of strings"),
            ("{\"allowHost\": [\"a\", 1]}", 1, 15, "allowHost: Expected a list of strings"),
        ] as [(String, Int, Int, String)]
    )
    func `A file with a fault is refused, with its location`(text: String, line: Int, column: Int, message: String) throws {
        let error = try #require(throws: StatusError.self) { try ConfigurationFile(Array(text.utf8), path: "/etc/hearth.json") }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains(message), "\(error.message)")
        #expect(error.file?.path == "/etc/hearth.json" && error.file?.line == line && error.file?.column == column, "\(error)")
    }

    @Test(
        arguments: [
            (["port": "70000"], "--port must be between 0 and 65535. --port is port in f.json, line 1."),
            (["allowHost": "[\"a b\"]"], "--allow-host is allowHost in f.json, line 1."),
            (["backupHours": "3"], "--backup-hours is backupHours in f.json, line 1."),
            (["tlsKey": "\"k\""], "--tls-key is tlsKey in f.json, line 1."),
            (["tlsMinimumVersion": "\"1.1\""], "--tls-minimum-version is tlsMinimumVersion in f.json, line 1."),
            (["traceEndpoint": "\"collector:4317\""], "--trace-endpoint is traceEndpoint in f.json, line 1."),
            (["traceSampleRatio": "1.5"], "--trace-sample-ratio is traceSampleRatio in f.json, line 1."),
            (["traceAttribute": "[\"name\"]"], "--trace-attribute is traceAttribute in f.json, line 1."),
            (["trustedProxy": "[\"proxy\"]"], "--trusted-proxy is trustedProxy in f.json, line 1."),
        ] as [([String: String], String)]
    )
    func `A value that the option refuses is refused, with its place in the file`(
        members: [String: String],
        message: String
    ) throws {
        let text = "{" + members.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
        let file = try ConfigurationFile(Array(text.utf8), path: "f.json")
        let configuration = try ServeConfiguration(arguments: [], environment: [:], file: file)
        let error = try #require(throws: StatusError.self) { try configuration.options() }
        #expect(error.message.contains(message), "\(error.message)")
    }

    @Test func `Paths are relative to the folder of the file`() throws {
        let text = #"{"data": "data", "rules": "../rules/firestore.rules", "backups": "/srv/backups"}"#
        let file = try ConfigurationFile(Array(text.utf8), path: "/etc/hearth/hearth.json")
        let options = try ServeConfiguration(arguments: [], environment: [:], file: file).options()
        #expect(options.data == "/etc/hearth/data")
        #expect(options.authentication.rules == "/etc/hearth/../rules/firestore.rules")
        #expect(options.backup.backups == "/srv/backups")
    }
}
