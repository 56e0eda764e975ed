import Foundation
import TestSupport
import Testing

@Suite("Logs of hearth serve", .timeLimit(.minutes(10)))
struct LogTests {
    /// The treatment of the server's standard error.
    enum StandardError: CaseIterable {
        /// Its buffer fills up, and nobody reads it.
        case unread
        /// Nobody can read it.
        case closedReader
        /// The server has none.
        case closed
    }

    @Test(arguments: StandardError.allCases)
    func `Standard error that nobody reads stops neither the server nor its end`(errors: StandardError) async throws {
        try await withTemporaryFolder { folder in
            let (reader, writer) = try ChildProcess.connection()
            let (output, outputWriter) = try ChildProcess.connection()
            let arguments = ["serve", "--data", folder.path, "--port", "0", "--log-level", "trace", "--access-log"]
            let command = #"exec "$0" "$@""# + (errors == .closed ? " 2>&-" : "")
            let process = try ChildProcess(
                "/bin/sh",
                ["-c", command, HearthProcess.executable.path] + arguments,
                output: outputWriter,
                errors: writer
            )
            for end in [outputWriter, writer] { try end.close() }
            if errors == .closedReader { try reader.close() }
            let lines = AsyncStream<String>.lines(of: output)
            let exits = process.exits()
            defer { process.send(SIGKILL) }
            let address = try #require(await lines.first { _ in true })
            // The entries of 1,500 requests are more than the buffer takes.
            let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{"x":1}}}"#
            let urls = #"for i in $(seq 1500); do printf 'url=\"%s/rpc\"\n' "\#(address)"; done"#
            let result = try await shell(
                "(\(urls)) | curl -s -K - -H 'Content-Type: application/json' -d '\(call)' | grep -c updateTime"
            )
            #expect(result.output.first == "1500" || result.output.first == "1", "\(result)")
            let metrics = try await shell("curl -s \(address)/metrics | grep 'hearth_rpc_calls_total{.*documents.set.*OK'")
            #expect(metrics.output.first?.hasSuffix(" 1500") == true, "\(metrics)")
            process.send(SIGTERM)
            #expect(await exits.first { _ in true } == .code(0))
            #expect(try await hearth("check", "--data", folder.path).status == .code(0))
            if errors == .unread { try reader.close() }
        }
    }

    @Test
    func `Lines of JSON and the audit log can be read and verified`() async throws {
        try await withTemporaryFolder { folder in
            let audit = folder.appendingPathComponent("audit.ndjson").path
            let data = folder.appendingPathComponent("data")
            #expect(try await hearth("keys", "create", "--role", "admin", "--data", data.path).status == .code(0))
            let arguments = ["--log-format", "json", "--audit-log", audit]
            let server = try await EndToEndServer(data: data, arguments: arguments)
            #expect(try await hearth("keys", "create", "--role", "reader", "--data", data.path).status == .code(0))
            // The server notices the key within a second.
            for await line in server.process.errors where line.contains("Keys changed by another process") {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(object?["level"] as? String == "notice")
                #expect(object?["key.count"] != nil)
                break
            }
            #expect(try await server.stop() == .code(0))
            let text = try String(contentsOfFile: audit, encoding: .utf8)
            for action in ["server.start", "keys.change", "server.stop"] {
                #expect(text.split(separator: "\n").count { $0.contains(#""action":"\#(action)""#) } == 1, "\(action)")
            }
            let verified = try await hearth("audit", "verify", audit)
            #expect(verified.output == ["Lines 1 to 3 in 1 file: no changes found."])
            try text.replacing("created", with: "Created").write(toFile: audit, atomically: true, encoding: .utf8)
            let changed = try await hearth("audit", "verify", audit)
            #expect(changed.status == .code(1))
            #expect(changed.errorText.contains("audit.ndjson, line 3: the line before was changed"))
        }
    }
}
