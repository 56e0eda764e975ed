import ArgumentParser
import DocumentModel
import Testing

@testable import HearthCLI

@Suite("Command-line arguments")
struct ArgumentTests {
    private func parse<Command: ParsableCommand>(_ line: String, as type: Command.Type = Command.self) throws -> Command {
        try #require(try Hearth.parseAsRoot(line.split(separator: " ").map(String.init)) as? Command)
    }

    @Test func `serve has defaults for local use`() throws {
        let serve: ServeCommand = try parse("serve")
        #expect(serve.options.data == "data")
        #expect(serve.options.host == "127.0.0.1")
        #expect(serve.options.port == 8080)
        #expect(serve.options.allowHost == [])
    }

    @Test func `serve accepts a host, port, folders and additional host names`() throws {
        let serve: ServeCommand = try parse(
            "serve --data d --host ::1 --port 0 --assets a --allow-host data.example.org --allow-host [::2]"
        )
        #expect(serve.options.data == "d")
        #expect(serve.options.host == "::1")
        #expect(serve.options.port == 0)
        #expect(serve.options.assets == "a")
        #expect(serve.options.allowHost == ["data.example.org", "[::2]"])
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) func `serve accepts loopback addresses`(
        host: String
    ) throws {
        let serve: ServeCommand = try parse("serve --host \(host)")
        #expect(serve.options.host == host)
    }

    @Test(arguments: [
        ("90d", KeyExpiry.after(seconds: 7_776_000)), ("12h", .after(seconds: 43_200)), ("30m", .after(seconds: 1_800)),
        ("1970-01-01T00:00:01Z", .at(try! Timestamp(microseconds: 1_000_000))),
    ])
    func `--expires accepts durations and timestamps`(text: String, expected: KeyExpiry) throws {
        #expect(try KeyExpiry(argument: text) == expected)
    }

    @Test(arguments: ["", "d", "0d", "-1d", "+1d", "1", "1w", "1.5d", "9999999d", "1 d", "٣d", "tomorrow"])
    func `--expires rejects other values`(text: String) {
        #expect(throws: ValidationError.self) { try KeyExpiry(argument: text) }
    }

    @Test(arguments: ["", "a b", "http://a", "a/b", "*", "ä.example"]) func `--allow-host rejects values that are not host names`(
        name: String
    ) {
        let error = #expect(throws: (any Error).self) { try Hearth.parseAsRoot(["serve", "--allow-host", name]) }
        guard let error else { return }
        #expect(Hearth.exitCode(for: error) == .validationFailure)
    }

    @Test(arguments: [
        ("get books/a", GetCommand.self as any ParsableCommand.Type), ("set books/a {}", SetCommand.self),
        ("delete books/a", DeleteCommand.self), ("list", ListCommand.self), ("query {}", QueryCommand.self),
        ("watch books", WatchCommand.self),
        ("import f", ImportCommand.self), ("export", ExportCommand.self), ("example load guide", ExampleCommand.Load.self),
    ])
    func `Every client command accepts --server and --key`(line: String, type: any ParsableCommand.Type) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let command = try Hearth.parseAsRoot(arguments + ["--server", "https://example.org/db/", "--key", "k"])
        #expect(Swift.type(of: command) == type)
        #expect(throws: (any Error).self) { try Hearth.parseAsRoot(arguments + ["--server", "example.org"]) }
    }

    @Test(arguments: ["--documents", "--missing"]) func `list accepts --documents and --missing only with a collection`(
        flag: String
    ) throws {
        let list: ListCommand = try parse("list books \(flag)")
        #expect(list.documents == (flag == "--documents"))
        #expect(list.missing == (flag == "--missing"))
        for other in ["list \(flag)", "list books/a \(flag)"] {
            #expect(throws: (any Error).self) { try parse(other, as: ListCommand.self) }
        }
    }
}
