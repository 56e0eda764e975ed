import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("API keys", .timeLimit(.minutes(10)))
struct KeyTests {
    @Test func `Keys can be created before the first start, and permit a public address`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let made = try await hearth("keys", "create", "--role", "admin", "--data", data.path)
            #expect(made.status == .code(0))
            let key = try #require(made.output.first)
            #expect(made.output.count == 1)
            #expect(made.errorText.contains("cannot be shown again"))
            #expect(!made.errorText.contains(key))
            let process = try HearthProcess(["serve", "--data", data.path, "--port", "0", "--host", "0.0.0.0"])
            var lines = process.output.makeAsyncIterator()
            let port = try #require(await lines.next()?.split(separator: ":").last)
            let address = "http://127.0.0.1:\(port)"
            #expect(try await hearth("list", "--server", address).errorText.contains("UNAUTHENTICATED"))
            #expect(try await hearth("list", "--server", address, environment: ["HEARTH_KEY": key]).status == .code(0))
            // The Host header must be the address that the connection was made to.
            for (host, status) in [("127.0.0.2:\(port)", "401"), ("127.0.0.3:\(port)", "421"), ("evil.example", "421")] {
                let curl = "curl -s -o /dev/null -w '%{http_code}' -H 'Host: \(host)' http://127.0.0.2:\(port)/admin/"
                #expect(try await shell(curl).output == [status], "\(host)")
            }
            #expect(try await process.end(with: SIGTERM) == .code(0))
            let log = await process.errors.reduce(into: "") { $0 += $1 }
            #expect(log.contains("without TLS"))
            #expect(!log.contains(key))
        }
    }

    @Test func `A running server requires a key as soon as the first one is created`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "admin", "--data", server.folder.path, "--label", "me")
            let key = try #require(made.output.first)
            #expect(try await hearth("list", "--server", server.address, environment: ["HEARTH_KEY": key]).status == .code(0))
            while try await hearth("list", "--server", server.address).status == .code(0) {}
            let rejected = try await hearth("list", "--server", server.address)
            #expect(rejected.status == .code(1))
            #expect(rejected.errorText.contains("Authorization: Bearer"))
        }
    }

    @Test func `A key can be given by variable, file, standard input or option`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "reader", "--data", server.folder.path)
            let key = try #require(made.output.first)
            let file = server.folder.deletingLastPathComponent().appendingPathComponent("key").path
            try Data("  \(key)\r\n".utf8).write(to: URL(filePath: file))
            let list = ["list", "--server", server.address]
            // Waits until the server has loaded the key.
            #expect(try await run(list, environment: ["HEARTH_KEY": key]).status == .code(0))
            #expect(try await run(list + ["--key-file", file]).status == .code(0))
            #expect(try await run(list + ["--key-file", "-"], input: key).status == .code(0))
            #expect(try await run(list + ["--key", key], environment: ["HEARTH_KEY": "wrong"]).status == .code(0))
            for (arguments, input) in [
                (["--key-file", "/missing"], ""), (["--key-file", "-"], ""), (["--key-file", "-"], "a b"),
            ] {
                #expect(try await run(list + arguments, input: input).status == .code(1))
            }
        }
    }

    @Test func `Only an admin can create, list and revoke keys through the server`() async throws {
        try await withServer { server in
            let admin = try #require(
                try await hearth("keys", "create", "--role", "admin", "--data", server.folder.path).output.first
            )
            let environment = ["HEARTH_KEY": admin, "HEARTH_SERVER": server.address]
            let made = try await run(
                ["keys", "create", "--role", "writer", "--label", "app \u{1B}[31m", "--collection", "books", "--expires", "90d"],
                environment: environment
            )
            let writer = try #require(made.output.first)
            let list = try await run(["keys", "list"], environment: environment)
            #expect(list.output.count == 3)
            #expect(list.output[0].hasPrefix("ID            ROLE    CREATED"))
            #expect(list.output[2].contains("writer"))
            #expect(list.output[2].contains("books"))
            #expect(!list.output.joined().contains("\u{1B}"))
            let json = try await run(["keys", "list", "--json"], environment: environment).output
            let id = try #require(try JSONText(json[1]).root["id"]?.string)
            #expect(try JSONText(json[1]).root["expireTime"]?.string != nil)
            #expect(writer.contains(id))
            let offline = try await hearth("keys", "list", "--data", server.folder.path, "--json")
            #expect(
                try offline.output.map { try JSONText($0).root["id"]?.string } == json.map { try JSONText($0).root["id"]?.string }
            )

            let writerEnvironment = ["HEARTH_KEY": writer, "HEARTH_SERVER": server.address]
            #expect(try await run(["set", "books/b", "{}"], environment: writerEnvironment).status == .code(0))
            #expect(
                try await run(["set", "users/u", "{}"], environment: writerEnvironment).errorText.contains("PERMISSION_DENIED")
            )
            #expect(try await run(["keys", "list"], environment: writerEnvironment).errorText.contains("PERMISSION_DENIED"))
            #expect(try await run(["keys", "revoke", id], environment: environment).status == .code(0))
            #expect(try await run(["list", "books"], environment: writerEnvironment).errorText.contains("UNAUTHENTICATED"))
            #expect(try await run(["keys", "revoke", id], environment: environment).errorText.contains("NOT_FOUND"))
        }
    }

    @Test func `Revoking a key ends its watch streams`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "reader", "--data", server.folder.path)
            let key = try #require(made.output.first)
            let watch = try HearthProcess(["watch", "books", "--server", server.address], environment: ["HEARTH_KEY": key])
            var frames = watch.output.makeAsyncIterator()
            while let frame = await frames.next(), !frame.contains(#""type":"current""#) {}
            let id = String(key.split(separator: "_")[1])
            #expect(try await hearth("keys", "revoke", id, "--data", server.folder.path).status == .code(0))
            #expect(await frames.next()?.hasPrefix(#"{"type":"end","reason":"revoked""#) == true)
            _ = try await watch.exitStatus()
        }
    }

    @Test func `The Swift client reports missing authentication and permissions`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "reader", "--data", server.folder.path)
            let key = try #require(made.output.first)
            func database(_ key: String?) -> Firestore {
                let settings = FirestoreSettings()
                settings.host = String(server.address.dropFirst("http://".count))
                settings.isSSLEnabled = false
                settings.key = key
                return Firestore(settings: settings)
            }
            let reader = database(key)
            _ = try await reader.collection("books").getDocuments()
            let write = await #expect(throws: (any Error).self) { try await reader.document("books/b").setData(["a": 1]) }
            #expect(write.flatMap { FirestoreErrorCode($0) }?.code == .permissionDenied)
            for wrong in [nil, "fsk_wrong"] {
                let unauthenticated = database(wrong)
                let error = await #expect(throws: (any Error).self) {
                    try await unauthenticated.document("books/b").getDocument()
                }
                #expect(error.flatMap { FirestoreErrorCode($0) }?.code == .unauthenticated)
                var listening: (any Error)?
                do {
                    for try await _ in unauthenticated.collection("books").snapshots {}
                } catch {
                    listening = error
                }
                #expect(listening.flatMap { FirestoreErrorCode($0) }?.code == .unauthenticated)
                try await unauthenticated.terminate()
            }
            // A listener whose key is revoked fails instead of retrying forever.
            var snapshots = reader.collection("books").snapshots.makeAsyncIterator()
            _ = try await snapshots.next()
            let id = String(key.split(separator: "_")[1])
            #expect(try await hearth("keys", "revoke", id, "--data", server.folder.path).status == .code(0))
            let ended = await #expect(throws: (any Error).self) { while try await snapshots.next() != nil {} }
            #expect(ended.flatMap { FirestoreErrorCode($0) }?.code == .unauthenticated)
            try await reader.terminate()
        }
    }

    private func run(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = [:]
    ) async throws -> CommandResult {
        try await HearthProcess(arguments, input: input, environment: environment).result()
    }
}
