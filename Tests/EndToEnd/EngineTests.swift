import DocumentModel
import Foundation
import FoundationNetworking
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("Servers that share an engine", EngineServer.condition, .tags(.slow), .timeLimit(.minutes(10)))
struct EngineTests {
    /// Calls `body` with servers that share an empty database of an engine, and with its URL.
    private func withServers(_ count: Int, _ body: ([EndToEndServer], _ engine: String) async throws -> Void) async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            var servers: [EndToEndServer] = []
            for number in 0..<count {
                servers.append(
                    try await EndToEndServer(data: folder.appendingPathComponent("server\(number)"), engine: url)
                )
            }
            do {
                try await body(servers, url)
            } catch {
                for server in servers { _ = try await server.stop(with: SIGKILL) }
                throw error
            }
            for server in servers { #expect(try await server.stop() == .code(0)) }
        }
    }

    @Test func `What one server writes, the other one reads, queries and watches`() async throws {
        try await withServers(2) { servers, _ in
            let (writer, reader) = (servers[0].connection, servers[1].connection)
            let frames = try await reader.watch(.collection(CollectionPath("c")))
            var received: [Int64] = []
            for try await frame in frames {
                if frame.kind == .current {
                    for number in 0..<10 as Range<Int64> {
                        try await writer.set(DocumentPath("c/\(number % 3)"), ["number": .integer(number)])
                    }
                } else if frame.kind == .added || frame.kind == .modified,
                    case .integer(let number)? = try frame.document()?.decoded().fields["number"]
                {
                    received.append(number)
                    if received.count == 10 { break }
                }
            }
            #expect(received == Array(0..<10))
            func run(_ arguments: String...) async throws -> CommandResult {
                try await HearthProcess(arguments + ["--server", servers[1].address]).result()
            }
            #expect(try await run("get", "c/0").output.first?.contains(#"{"number":9}"#) == true)
            let query = #"{"collection": "c", "where": {"field": "number", "op": ">=", "value": 8}}"#
            #expect(try await run("query", query).output.count == 2)
            #expect(try await run("list").output == ["c"])
            #expect(try await run("set", "c/d", #"{"in": "tests"}"#, "--database", "tests").status == .code(0))
            #expect(try await run("databases").output == ["hearth/(default)", "hearth/tests"])
            #expect(try await run("databases", "delete", "tests").status == .code(0))
        }
    }

    @Test func `Pages tell how the databases of an engine are backed up, and show nothing of a data folder`() async throws {
        try await withServers(1) { servers, _ in
            let connection = servers[0].connection
            try await connection.set(DocumentPath("c/a"), ["number": .integer(1)])
            for (page, text) in [
                ("", "pg_dump"), ("backups", "pg_dump"), ("keys", "keys create --role admin --engine URL"),
                ("data/c/a?view=json", "number"),
            ] {
                let html = String(decoding: try await connection.contents(at: "/admin/\(page)"), as: UTF8.self)
                #expect(html.contains(text), "\(page)")
                for words in ["rsync", "data folder", "--data DIR</", "raw file"] { #expect(!html.contains(words), "\(page)") }
            }
        }
    }

    @Test func `A server goes on when another one is killed`() async throws {
        try await withServers(1) { servers, url in
            try await withTemporaryFolder { folder in
                let killed = try await EndToEndServer(data: folder.appendingPathComponent("killed"), engine: url)
                for number in 0..<20 as Range<Int64> {
                    try await killed.connection.set(DocumentPath("c/\(number)"), ["number": .integer(number)])
                }
                _ = try await killed.stop(with: SIGKILL)
            }
            for number in 20..<40 as Range<Int64> {
                try await servers[0].connection.set(DocumentPath("c/\(number)"), ["number": .integer(number)])
            }
            let listed = try await HearthProcess(["list", "c", "--server", servers[0].address]).result()
            #expect(listed.output.count == 40)
        }
    }

    @Test func `Documents with more entries than a commit may change are cleared by the emulator's call`() async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder, engine: url, arguments: ["--allow-clearing"])
            let elements = (0..<70_000 as Range<Int64>).map { Value.integer($0) }
            for number in 0..<3 {
                do {
                    try await server.connection.set(DocumentPath("c/\(number)"), ["elements": .array(elements)])
                } catch let error as StatusError where error.code == .deadlineExceeded {
                    // A busy machine needs longer, and makes the write all the same.
                    let list = ["list", "c", "--server", server.address]
                    while try await !HearthProcess(list).result().output.contains("c/\(number)") {
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
            }
            var request = URLRequest(
                url: try #require(URL(string: "\(server.address)/emulator/v1/projects/hearth/databases/(default)/documents"))
            )
            request.httpMethod = "DELETE"
            request.timeoutInterval = 600
            var (body, response) = try await URLSession.shared.data(for: request)
            // A busy machine may need more than the time of a call: a repeated one goes on.
            while [503, 504].contains((response as? HTTPURLResponse)?.statusCode) {
                (body, response) = try await URLSession.shared.data(for: request)
            }
            #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(String(decoding: body, as: UTF8.self))")
            #expect(try await HearthProcess(["list", "--server", server.address]).result().output == [])
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `The tables are made ahead of the servers, and other options than an engine's are refused`() async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        #expect(try await hearth("engine", "migrate", environment: ["HEARTH_ENGINE": url]).output.first?.contains("now") == true)
        #expect(try await hearth("engine", "migrate", "--engine", url).output == ["The tables have version 5."])
        #expect(try await hearth("serve", "--engine", url, "--data", "data").status == .code(64))
        let away = try await hearth(
            "serve",
            "--engine",
            "postgresql://hearth@/db?host=/nonexistent",
            "--server-folder",
            "/dev/null/a"
        )
        #expect(away.status == .code(1))
    }

    @Test func `The password of an engine comes from the environment or a password file`() async throws {
        let engine = try await EngineServer()
        let name = try await engine.makeDatabase()
        try await engine.execute("CREATE ROLE alice SUPERUSER LOGIN PASSWORD 'a b''c'")
        try await engine.requirePassword(of: "alice")
        let url = engine.url(name).replacing("hearth@", with: "alice@")
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("pgpass")
            try "*:*:*:alice:a b'c\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let migrated = try await hearth("engine", "migrate", "--engine", "\(url)&passfile=\(file.path)")
            #expect(migrated.output == ["The tables had version 0, and have version 5 now."])
            let environment = ["PGPASSWORD": "a b'c"]
            let key = try await hearth("keys", "create", "--role", "reader", "--engine", url, environment: environment)
            #expect(key.status == .code(0), "\(key.errorText)")
            for environment in [[:], ["PGPASSWORD": "wrong-secret"]] {
                let refused = try await hearth("keys", "create", "--role", "reader", "--engine", url, environment: environment)
                #expect(refused.status == .code(1))
                #expect(refused.errorText.contains("password") && !refused.errorText.contains("wrong-secret"))
            }
        }
    }
}
