import Foundation
import StrictJSON
import TestSupport
import Testing

@Suite("Commands of the documentation", .timeLimit(.minutes(2)))
struct DocumentationTests {
    @Test func `work when they are copied into a shell`() async throws {
        try await withServer { server in
            try await checkCommands(of: server, key: nil)
        }
    }

    @Test func `work with a key in the shell's variable`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "admin", "--data", server.folder.path)
            let key = try #require(made.output.first)
            // The first makes sure that the server knows of the key.
            #expect(try await hearth("list", "--server", server.address, environment: ["HEARTH_KEY": key]).status == .code(0))
            try await checkCommands(of: server, key: key)
        }
    }

    private func checkCommands(of server: TestServer, key: String?) async throws {
        let header = key.map { "-H 'Authorization: Bearer \($0)' " } ?? ""
        let page = try await shell("curl -sS --fail \(header)\(server.address)/rpc/docs").output.joined(separator: "\n")
        let commands = page.matches(of: /<pre[^>]*class="command"[^>]*>([^<]*)<\/pre>/).map { Self.text($0.1) }
        #expect(commands.count > 30)
        let script = "export HEARTH_KEY=\(key ?? ""); " + commands.map { "\($0) | tr -d '\\n'; echo" }.joined(separator: "\n")
        let answers = try await shell(script).output
        try #require(answers.count == commands.count)
        var resultCount = 0
        for (command, answer) in zip(commands, answers) {
            let response = try JSONText(answer).root
            #expect(response["jsonrpc"]?.string == "2.0", "\(command)")
            #expect(response["id"]?.number == .integer(1), "\(command)")
            if case .integer(let code)? = response["error"]?["code"]?.number { #expect(code > 0, "\(command)\n\(answer)") }
            resultCount += response["result"] == nil ? 0 : 1
        }
        // Some of them are about documents, keys and transactions that aren't there.
        #expect(resultCount > commands.count / 2)
    }

    /// What a browser shows for text in HTML.
    private static func text(_ html: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&#61;", "="), ("&amp;", "&")]
            .reduce(String(html)) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
