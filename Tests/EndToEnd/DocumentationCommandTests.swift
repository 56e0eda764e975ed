import Foundation
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Commands in the API documentation", .timeLimit(.minutes(10)))
struct DocumentationCommandTests {
    @Test func `Commands run in a shell`() async throws {
        try await withServer { server in
            try await checkCommands(of: server, key: nil)
        }
    }

    @Test func `Commands run with a key in HEARTH_KEY`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "admin", "--data", server.folder.path)
            let key = try #require(made.output.first)
            // Waits until the server has loaded the key.
            #expect(try await hearth("list", "--server", server.address, environment: ["HEARTH_KEY": key]).status == .code(0))
            try await checkCommands(of: server, key: key)
        }
    }

    private func checkCommands(of server: EndToEndServer, key: String?) async throws {
        let header = key.map { "-H 'Authorization: Bearer \($0)' " } ?? ""
        let page = try await shell("curl -sS --fail \(header)\(server.address)/rpc/docs").output.joined(separator: "\n")
        let commands = page.matches(of: /<pre[^>]*class="command"[^>]*>([^<]*)<\/pre>/).map { Self.text($0.1) }
        #expect(commands.count > 30)
        let script = "export HEARTH_KEY=\(key ?? ""); " + commands.map { "\($0) | tr -d '\\n'; echo" }.joined(separator: "\n")
        let responses = try await shell(script).output
        try #require(responses.count == commands.count)
        var resultCount = 0
        for (command, line) in zip(commands, responses) {
            let response = try JSONText(line).root
            #expect(response["jsonrpc"]?.string == "2.0", "\(command)")
            #expect(response["id"]?.number == .integer(1), "\(command)")
            if case .integer(let code)? = response["error"]?["code"]?.number { #expect(code > 0, "\(command)\n\(line)") }
            resultCount += response["result"] == nil ? 0 : 1
        }
        // Some commands refer to documents, keys and transactions that don't exist.
        #expect(resultCount > commands.count / 2)
    }

    /// Decodes the character references in HTML text.
    private static func text(_ html: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&#61;", "="), ("&amp;", "&")]
            .reduce(String(html)) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
