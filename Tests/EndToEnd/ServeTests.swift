import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("hearth serve", .timeLimit(.minutes(10)))
struct ServeTests {
    @Test func `Prints its URL when it is ready, and nothing else to standard output`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            #expect(server.address.wholeMatch(of: /http:\/\/127\.0\.0\.1:[1-9][0-9]*/) != nil)
            #expect(try await server.connection.serverInformation().version.isEmpty == false)
            #expect(try await server.stop() == .code(0))
            #expect(await server.process.output.reduce(into: []) { $0.append($1) } == [])
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `Shuts down quickly on a signal with open streams`(
        signal: Int32
    ) async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            let frames = try await server.connection.watch(.collection(CollectionPath("books")))
            var kinds: [WatchFrame.Kind] = []
            var stopTime: ContinuousClock.Instant?
            for try await frame in frames {
                kinds.append(frame.kind)
                guard frame.kind == .current else { continue }
                stopTime = .now
                server.process.send(signal)
            }
            #expect(kinds == [.open, .current, .end])
            #expect(try await server.process.exitStatus() == .code(0))
            // Less than the shutdown timeout for pending calls.
            #expect(try .now - #require(stopTime) < .seconds(9))
            await server.connection.shutdown()
        }
    }

    @Test func `Logs its version, data folder and process ID, and that it stops; SIGHUP does not stop it`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            server.process.send(SIGHUP)
            #expect(try await server.connection.serverInformation().name == "Hearth")
            #expect(try await server.stop() == .code(0))
            let lines = await server.process.errors.reduce(into: []) { $0.append($1) }
            for message in ["Starting Hearth", "Shutting down", "Stopped Hearth"] {
                #expect(lines.count { $0.contains(message) } == 1, "\(message)")
            }
            for message in ["Starting Hearth", "Stopped Hearth"] {
                let line = try #require(lines.first { $0.contains(message) })
                #expect(line.contains("process.id=\(server.process.processID)"))
                #expect(line.contains("store.folder=\(folder.path)"))
                #expect(line.wholeMatch(of: /.*server\.version=[0-9]+\.[0-9]+.*/) != nil)
            }
        }
    }

    @Test(arguments: [("none", "600", "700"), ("read", "640", "750"), ("edit", "660", "770")])
    func `The group may read or edit the data folder, but not the keys`(
        access: String,
        file: String,
        folder mode: String
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            let server = try await EndToEndServer(data: data, arguments: ["--group-access", access])
            _ = try await server.connection.set(DocumentPath("books/a"), [:])
            #expect(try await hearth("keys", "create", "--role", "admin", "--label", "a", "--data", data.path).status == .code(0))
            let paths = ["documents/books/a.json", "hearth.json", "index.sqlite", "documents/books", "journal", "keys.json"]
            let modes = try await shell("cd '\(data.path)' && stat -c %a \(paths.joined(separator: " "))").output
            #expect(modes == [file, file, file, mode, mode, "600"])
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Status shows what needs attention, and a server that drains is not ready`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appendingPathComponent("data"), folder.appendingPathComponent("backups").path)
            let server = try await EndToEndServer(data: data, arguments: ["--backups", backups, "--drain-seconds", "300"])
            let first = try await hearth("status", "--server", server.address)
            #expect(first.status == .code(1) && first.output.contains("! No backup has been made."), "\(first)")
            #expect(try await hearth("backup", "create", "--server", server.address).status == .code(0))
            let second = try await hearth("status", "--server", server.address)
            #expect(second.status == .code(0) && second.output.contains { $0.hasPrefix("last backup ") }, "\(second)")
            let json = try await hearth("status", "--json", "--server", server.address)
            #expect(json.output.joined().contains("\"problems\":[]") && json.output.joined().contains("\"hearth_writable\":1"))
            #expect(try await hearth("status", "--ready", "--server", server.address).status == .code(0))
            server.process.send(SIGTERM)
            try #require(await server.process.errors.first { $0.contains("no longer ready") } != nil)
            let ready = try await hearth("status", "--ready", "--server", server.address)
            #expect(ready.status == .code(1), "\(ready)")
            let live = try await shell("curl -s \(server.address)/health/live")
            #expect(live.output == ["{\"status\":\"ok\"}"])
            // A second signal does not wait.
            server.process.send(SIGTERM)
            #expect(try await server.process.exitStatus() == .code(1))
            #expect(try await hearth("status", "--server", server.address).status == .code(69))
            await server.connection.shutdown()
        }
    }

    @Test func `A disk is measured, and nothing is left behind`() async throws {
        try await withTemporaryFolder { folder in
            let result = try await hearth("bench", "disk", folder.path, "--seconds", "1")
            #expect(result.status == .code(0) && result.output.count == 3 && result.output[0].hasPrefix("syncs "), "\(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            #expect(try await hearth("bench", "disk", folder.path + "/none").status == .code(1))
        }
    }

    @Test func `SIGHUP applies changed settings of the configuration file, wholly or not at all`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("hearth.json")
            func write(_ text: String) throws { try Data(text.utf8).write(to: file, options: .atomic) }
            try write(#"{"corsOrigin": ["https://a.example.org"], "keepHours": 24}"#)
            let server = try await EndToEndServer(
                data: folder.appendingPathComponent("data"),
                arguments: ["--config", file.path]
            )
            func isAllowed(_ origin: String) async throws -> Bool {
                let response = try await shell("curl -s -i -H 'Origin: \(origin)' \(server.address)/health")
                return response.output.joined().lowercased().contains("access-control-allow-origin: \(origin)")
            }
            func reload(_ text: String, _ message: String) async throws {
                try write(text)
                server.process.send(SIGHUP)
                try #require(await server.process.errors.first { $0.contains(message) } != nil)
            }
            #expect(try await isAllowed("https://a.example.org"))
            try await reload(#"{"corsOrigin": ["https://b.example.org"], "keepHours": 24}"#, "Configuration reloaded")
            #expect(try await isAllowed("https://b.example.org"))
            #expect(try await !isAllowed("https://a.example.org"))
            for (text, message) in [
                (#"{"corsOrigin": ["https://c.example.org"], "keepHours": 12}"#, "require a restart: keepHours"),
                (#"{"corsOrigin": ["https://c.example.org"], "keepHour": 24}"#, "keepHours?"),
                (#"{"corsOrigin": ["c.example.org"]}"#, "corsOrigin in \(file.path), line 1"),
                (#"{"imageOrigin": ["https://i.example.org; script-src *"]}"#, "imageOrigin in \(file.path), line 1"),
                (
                    #"{"corsOrigin": ["https://c.example.org"], "tlsCertificate": "x", "tlsKey": "y"}"#,
                    "require a restart: tlsCertificate"
                ),
                (#"{"corsOrigin": ["https://c.example.org"], "trustedProxy": ["10.0.0.0/8"]}"#, "no API keys"),
            ] {
                try await reload(text, message)
                #expect(try await isAllowed("https://b.example.org"))
            }
            let failed = try await shell("curl -s \(server.address)/metrics | grep '^hearth_config_reload_success'")
            #expect(failed.output == ["hearth_config_reload_success 0"])
            func policy() async throws -> String {
                try await shell("curl -s -i \(server.address)/admin/ | grep -i '^content-security-policy:'").output.joined()
            }
            #expect(try await policy().contains("img-src 'self' data:;"))
            let changed = #"{"corsOrigin": ["https://c.example.org"], "imageOrigin": ["https://i.example.org"]}"#
            try await reload(changed, "Configuration reloaded")
            #expect(try await isAllowed("https://c.example.org"))
            #expect(try await policy().contains("img-src 'self' data: https://i.example.org;"))
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `SIGHUP sets, changes and removes the limits on the rate of calls`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("hearth.json")
            try Data("{}".utf8).write(to: file)
            let server = try await EndToEndServer(
                data: folder.appendingPathComponent("data"),
                arguments: ["--config", file.path]
            )
            let key = try await hearth("keys", "create", "--role", "reader", "--data", server.folder.path).output[0]
            let call = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
            let batch = "[" + Array(repeating: call, count: 1_000).joined(separator: ",") + "]"
            let body = folder.appendingPathComponent("batch.json").path
            try Data(batch.utf8).write(to: URL(filePath: body))
            func status() async throws -> [String] {
                try await shell(
                    "curl -s -o /dev/null -w '%{http_code}' \(server.address)/rpc -H 'Authorization: Bearer \(key)' --json @\(body)"
                ).output
            }
            func reload(_ text: String) async throws {
                try Data(text.utf8).write(to: file, options: .atomic)
                server.process.send(SIGHUP)
                try #require(await server.process.errors.first { $0.contains("Configuration reloaded") } != nil)
            }
            for _ in 0..<3 { #expect(try await status() == ["200"]) }
            try await reload(#"{"callRatePerKey": 1}"#)
            #expect(try await status() == ["200"])
            #expect(try await status() == ["429"])
            try await reload(#"{"callRatePerKey": 0}"#)
            #expect(try await status() == ["200"])
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Does not send the path of the data folder with its log`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            let call = #"{"jsonrpc":"2.0","id":1,"method":"server.log"}"#
            let log = try await shell(
                "curl -s -H 'Content-Type: application/json' -d '\(call)' \(server.address)/rpc"
            )
            #expect(log.output.joined().contains("result"))
            #expect(!log.output.joined().contains(folder.path))
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Rejects a data folder that is in use by another server`() async throws {
        try await withServer { server in
            let second = try await hearth("serve", "--data", server.folder.path, "--port", "0")
            #expect(second.status == .code(1))
            #expect(second.output == [])
            #expect(second.errorText.contains("hearth: "))
            #expect(second.errorText.contains("in use by another Hearth server, process \(server.process.processID)"))
            #expect(try await server.connection.serverInformation().name == "Hearth")
        }
    }

    @Test func `Rejects a port that is in use`() async throws {
        try await withServer { server in
            let port = String(server.address.split(separator: ":").last ?? "")
            try await withTemporaryFolder { folder in
                let second = try await hearth("serve", "--data", folder.path, "--port", port)
                #expect(second.status == .code(1))
                #expect(second.errorText.contains("Cannot listen on 127.0.0.1, port \(port): Address already in use."))
                #expect(second.errorText.contains("--port 0"))
            }
        }
    }

    @Test func `Rejects a public address without keys before creating the data folder`() async throws {
        let folder = try TemporaryFolder()
        let result = try await hearth("serve", "--host", "0.0.0.0", "--data", folder["data"], "--port", "0")
        #expect(result.status == .code(1))
        #expect(result.errorText.contains("anyone who can connect to \"0.0.0.0\""))
        #expect(result.errorText.contains("hearth keys create --role admin"))
        #expect(!folder.exists("data"))
    }

    @Test func `Accepts additional host names given with --allow-host`() async throws {
        let folder = try TemporaryFolder()
        let names = ["one.example", "two.example"]
        let process = try HearthProcess(
            ["serve", "--data", folder["data"], "--port", "0"] + names.flatMap { ["--allow-host", $0] }
        )
        var addresses = process.output.makeAsyncIterator()
        let address = try #require(await addresses.next())
        for (name, status) in [("one.example", "200"), ("two.example:81", "200"), ("three.example", "421")] {
            let response = try await shell("curl -s -o /dev/null -w '%{http_code}' -H 'Host: \(name)' \(address)/openrpc.json")
            #expect(response.output == [status], "\(name)")
        }
        #expect(try await process.end(with: SIGTERM) == .code(0))
    }

    @Test func `Rejects a data folder that is a file`() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("data")
            try Data("not a folder".utf8).write(to: file)
            let result = try await hearth("serve", "--data", file.path, "--port", "0")
            #expect(result.status == .code(1))
            #expect(result.errorText.contains(file.path))
            #expect(try String(contentsOf: file, encoding: .utf8) == "not a folder")
        }
    }

    // Not even root can create a folder there.
    @Test func `Rejects a data folder that is not writable`() async throws {
        let result = try await hearth("serve", "--data", "/proc/hearth-data", "--port", "0")
        #expect(result.status == .code(1))
        #expect(result.errorText.contains("/proc/hearth-data"))
    }

    @Test func `Preserves every acknowledged write when killed`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            let collection = try CollectionPath("notes")
            for number in 0..<50 {
                let path = try DocumentPath("notes/n\(number)")
                _ = try await server.connection.set(path, ["number": .integer(Int64(number))])
            }
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))

            let again = try await EndToEndServer(data: folder)
            let page = try await again.connection.documents(in: collection, pageSize: 100)
            #expect(page.documents.count == 50)
            for number in 0..<50 {
                let path = try DocumentPath("notes/n\(number)")
                let fields = try await again.connection.document(at: path).decoded().fields
                #expect(fields == ["number": .integer(Int64(number))])
            }
            #expect(try await again.stop() == .code(0))
        }
    }

    @Test func `Reports that its data folder was removed and exits with an error`() async throws {
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder)
            let path = try DocumentPath("books/b")
            _ = try await server.connection.set(path, [:])
            #expect(try await server.connection.serverInformation().writeBlockedReason == nil)
            try FileManager.default.removeItem(at: folder)
            let read = await #expect(throws: StatusError.self) { try await server.connection.document(at: path) }
            #expect(read?.code == .unavailable)
            let write = await #expect(throws: StatusError.self) { try await server.connection.set(path, [:]) }
            #expect(write?.code == .unavailable)
            #expect(write?.message.contains("documents/ in the data folder was removed") == true)
            #expect(try await server.connection.serverInformation().writeBlockedReason == write?.message)
            #expect(try await server.stop() == .code(1))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        }
    }

    @Test func `Reports damaged files and keeps serving other documents`() async throws {
        try await withServer { server in
            let good = try DocumentPath("books/good")
            _ = try await server.connection.set(good, ["a": .integer(1)])
            let bad = server.file("books/bad")
            try Data("{\"a\": 1,\n \"b\"".utf8).write(to: bad)

            let error = await #expect(throws: StatusError.self) {
                try await server.connection.document(at: DocumentPath("books/bad"))
            }
            #expect(error?.code == .dataLoss)
            #expect(error?.path == "books/bad")
            #expect(try await server.connection.document(at: good).decoded().fields == ["a": .integer(1)])
            #expect(try String(contentsOf: bad, encoding: .utf8) == "{\"a\": 1,\n \"b\"")

            let list = try await hearth("list", "books", "--server", server.address)
            #expect(list.status == .code(1))
            #expect(list.output == ["books/good"])
            #expect(list.errorText.contains("bad"))
        }
    }
}
