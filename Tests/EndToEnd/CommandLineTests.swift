import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Command line", .timeLimit(.minutes(10)))
struct CommandLineTests {
    @Test(arguments: [
        ["nonsense"], ["get"], ["get", "books"], ["get", "books//x"], ["get", "books/.."], ["get", "books/__x__"],
        ["list", "books/"],
        ["set", "books/x"], ["set", "books/x", "{"], ["set", "books/x", "[]"], ["set", "books/x", #"{"a":[[1]]}"#],
        ["set", "books/x", #"{"a":{"$nonsense":1}}"#], ["get", "books/x", "--server", "localhost:8080"],
        ["get", "books/x", "--server", "http://user:secret@localhost"], ["list", "--documents"], ["list", "--missing"],
        ["export", "books/"], ["import"],
        ["example", "load"], ["example", "load", "nonsense"], ["serve", "--port", "65536"], ["serve", "--port", "x"],
        ["serve", "--host", ""], ["serve", "--cors-origin", "*"], ["serve", "--cors-origin", "null"],
        ["serve", "--cors-origin", "https://app.example/"], ["serve", "--cors-origin", "app.example"],
        ["serve", "--image-origin", "https://*.example"], ["serve", "--image-origin", "https://:8080"],
        ["serve", "--image-origin", "https://[::1]:8080"], ["serve", "--cors-origin", "https://:"], ["keys", "create"],
        ["keys", "create", "--role", "reader", "--expires", "soon"], ["keys", "revoke"],
        ["list", "--key", "a", "--key-file", "b"],
        ["serve", "--allow-host", "http://x"], ["watch"],
    ])
    func `Invalid arguments print the usage`(arguments: [String]) async throws {
        let process = try HearthProcess(arguments)
        let errors = await process.errors.reduce(into: []) { $0.append($1) }
        #expect(try await process.exitStatus() == .code(64))
        #expect(errors.first?.hasPrefix("hearth: ") == true, "\(errors)")
        #expect(errors.contains { $0.hasPrefix("Usage: hearth") }, "\(errors)")
        #expect(await process.output.reduce(into: []) { $0.append($1) } == [])
    }

    @Test func `Rules files are checked, with the positions of errors and warnings`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "firestore.rules")
            let rules = """
                rules_version = '2';
                service cloud.firestore {
                  match /databases/{database}/documents {
                    match /books/{book} { allow read: if %; }
                  }
                }
                """
            try Data(rules.replacing("%", with: "request.auth != null").utf8).write(to: file)
            let valid = try await hearth("rules", "check", file.path)
            #expect(valid.status == .code(0))
            #expect(valid.output == [])
            try Data(rules.replacing("%", with: "").utf8).write(to: file)
            let invalid = try await hearth("rules", "check", file.path)
            #expect(invalid.status == .code(1))
            #expect(invalid.output.first?.hasPrefix("\(file.path):4:") == true, "\(invalid.output)")
            #expect(invalid.output.first?.contains(" - ERROR ") == true)
            try Data([0xFF]).write(to: file)
            #expect(try await hearth("rules", "check", file.path).errorText.contains("UTF-8"))
        }
    }

    @Test func `An unreachable server is reported with advice`() async throws {
        let result = try await hearth("get", "books/x", "--server", "http://127.0.0.1:1")
        #expect(result.status == .code(1))
        #expect(result.output == [])
        #expect(result.errorText.contains("hearth serve"))
        #expect(result.errorText.contains("http://127.0.0.1:1"))
    }

    @Test func `HEARTH_SERVER sets the server, and --server overrides it`() async throws {
        try await withServer { server in
            let fromVariable = try await hearth("list", environment: ["HEARTH_SERVER": server.address])
            #expect(fromVariable.status == .code(0))
            let unreachable = "http://127.0.0.1:1"
            let fromOption = try await hearth("list", "--server", unreachable, environment: ["HEARTH_SERVER": server.address])
            #expect(fromOption.errorText.contains(unreachable))
            let withInvalidVariable = try await hearth(
                "list",
                "--server",
                "\(server.address)/",
                environment: ["HEARTH_SERVER": "nonsense"]
            )
            #expect(withInvalidVariable.status == .code(0))
        }
    }

    @Test func `Prints version and help`() async throws {
        let version = try await hearth("--version")
        #expect(version.status == .code(0))
        #expect(version.output.first?.hasPrefix("hearth ") == true)
        let help = try await hearth("--help")
        #expect(help.status == .code(0))
        for command in ["serve", "keys", "import", "export", "example", "get", "set", "delete", "list", "query", "watch"] {
            #expect(help.output.contains { $0.contains("  \(command) ") })
            #expect(try await hearth("help", command).status == .code(0))
        }
    }

    @Test func `Sets, merges, gets, lists and deletes documents`() async throws {
        try await withServer { server in
            let address = server.address
            #expect(try await hearth("set", "books/a", #"{"title":"A","pages":1}"#, "--server", address).status == .code(0))
            let merge = try await hearth("set", "books/a", #"{"pages":2}"#, "--merge", "--server", address)
            let line = try #require(merge.output.first)
            let time = try #require(JSONText(line).root["updateTime"]?.string)
            let get = try await hearth("get", "books/a", "--server", address)
            #expect(get.output.count == 1)
            #expect(get.output[0].hasPrefix(#"{"path":"books/a","fields":{"pages":2,"title":"A"},"createTime":""#))
            #expect(get.output[0].hasSuffix(#""updateTime":"\#(time)"}"#))
            #expect(try await hearth("list", "--server", address).output == ["books"])
            #expect(try await hearth("list", "books", "--server", address).output == ["books/a"])
            #expect(try await hearth("list", "books", "--documents", "--server", address).output == get.output)
            #expect(try await hearth("list", "books/a", "--server", address).output == [])
            #expect(try await hearth("delete", "books/a", "--server", address).status == .code(0))
            let gone = try await hearth("get", "books/a", "--server", address)
            #expect(gone.status == .code(1))
            #expect(gone.output == [])
            #expect(gone.errors.count == 1)
            #expect(gone.errorText.contains("NOT_FOUND"))
            #expect(gone.errorText.contains("books/a"))
        }
    }

    @Test func `Runs queries, aggregations and explain`() async throws {
        try await withServer { server in
            for pages in 1...3 {
                _ = try await server.connection.set(DocumentPath("books/b\(pages)"), ["pages": .integer(Int64(pages))])
            }
            func run(_ query: String, _ flags: String...) async throws -> CommandResult {
                try await HearthProcess(["query", query, "--server", server.address] + flags).result()
            }
            let where_ = #""collection":"books","where":{"field":"pages","op":">","value":1}"#
            let found = try await run("{\(where_),\"orderBy\":[{\"field\":\"pages\",\"direction\":\"desc\"}]}")
            #expect(found.status == .code(0))
            #expect(found.output.count == 2)
            #expect(found.output.first?.hasPrefix(#"{"path":"books/b3","fields":{"pages":3},"createTime":""#) == true)
            let count = try await run("{\(where_),\"aggregations\":[{\"sum\":\"pages\",\"alias\":\"all\"}]}")
            #expect(count.output == [#"{"all":5}"#])
            let plan = try await run("{\(where_)}", "--explain")
            #expect(plan.output.first?.hasPrefix(#"{"plan":["#) == true)
            let wrong = try await run(#"{"collection":"books","limit":-1}"#)
            #expect(wrong.status == .code(1))
            #expect(wrong.errorText.contains("INVALID_ARGUMENT"))
            #expect(try await run("[]").status == .code(64))
        }
    }

    @Test func `Rejects arguments that are not valid UTF-8`() async throws {
        try await withServer { server in
            _ = try await server.connection.set(DocumentPath("books/\u{FFFD}"), [:])
            let get = try await shell(#"$HEARTH get $'books/\xff' --server \#(server.address)"#)
            #expect(get.status == .code(64))
            #expect(get.output == [])
            #expect(get.errorText.contains("Argument 2"))
            #expect(get.errorText.contains("UTF-8"))
        }
    }

    @Test func `list --missing includes missing documents`() async throws {
        try await withServer { server in
            _ = try await server.connection.set(DocumentPath("books/a"), [:])
            _ = try await server.connection.set(DocumentPath("books/missing/reviews/r"), [:])
            let arguments = ["list", "books", "--server", server.address]
            #expect(try await HearthProcess(arguments).result().output == ["books/a"])
            #expect(try await HearthProcess(arguments + ["--missing"]).result().output == ["books/a", "books/missing"])
            let documents = try await HearthProcess(arguments + ["--missing", "--documents"]).result().output
            #expect(documents.first?.hasPrefix(#"{"path":"books/a","fields":{}"#) == true)
            #expect(documents.last == #"{"path":"books/missing"}"#)
        }
    }

    @Test func `list escapes control characters in paths`() async throws {
        try await withServer { server in
            _ = try await server.connection.set(DocumentPath("books/a\n\u{1B}[2J\u{202E}"), [:])
            #expect(try await hearth("list", "books", "--server", server.address).output == [#""books/a\n\u{1B}[2J\u{202E}""#])
        }
    }

    @Test func `watch runs until Ctrl-C`() async throws {
        try await withServer { server in
            let watch = try HearthProcess(["watch", "books", "--server", server.address])
            var types: [String?] = []
            for await line in watch.output {
                let frame = try JSONText(line).root
                types.append(frame["type"]?.string)
                if frame["type"]?.string == "current" { _ = try await server.connection.set(DocumentPath("books/a"), [:]) }
                if frame["type"]?.string == "added" { watch.send(SIGINT) }
            }
            #expect(types == ["open", "current", "added"])
            #expect(try await watch.exitStatus() == .code(0))
            #expect(await watch.errors.reduce(into: []) { $0.append($1) } == [])
        }
    }
}
