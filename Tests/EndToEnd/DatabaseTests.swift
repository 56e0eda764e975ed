import DocumentModel
import Foundation
import FoundationNetworking
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("Named databases", .tags(.slow), .timeLimit(.minutes(10)))
struct DatabaseTests {
    @Test func `The command line selects databases`() async throws {
        try await withServer { server in
            func run(_ arguments: String..., in database: String? = nil, input: String = "") async throws -> CommandResult {
                let options = ["--server", server.address] + (database.map { ["--database", $0] } ?? [])
                return try await HearthProcess(arguments + options, input: input).result()
            }
            #expect(try await run("set", "c/d", #"{"in": "default"}"#).status == .code(0))
            for name in ["tests", "shop/stock"] {
                #expect(try await run("list", in: name).output == [])
                #expect(try await run("set", "c/d", #"{"in": "\#(name)"}"#, in: name).status == .code(0))
                #expect(try await run("get", "c/d", in: name).output.first?.contains(#"{"in":"\#(name)"}"#) == true)
                #expect(try await run("list", "c", in: name).output == ["c/d"])
                #expect(try await run("query", #"{"collection": "c"}"#, in: name).output.count == 1)
            }
            let exported = try await run("export", in: "shop/stock").output.joined(separator: "\n")
            #expect(try await run("import", "-", in: "copy", input: exported).status == .code(0))
            #expect(try await run("get", "c/d", in: "copy").output.first?.contains("shop/stock") == true)
            #expect(try await run("indexes", "exempt", "c", "in", in: "copy").status == .code(0))
            #expect(try await run("indexes", "list").output == [])
            #expect(
                try await run("databases").output == ["hearth/(default)", "hearth/copy", "hearth/tests", "shop/stock"]
            )
            #expect(try await run("databases", "delete", "copy").status == .code(0))
            #expect(try await run("databases", "delete", "copy").errorText.contains("NOT_FOUND"))
            #expect(try await run("databases", "delete", "(default)").errorText.contains("FAILED_PRECONDITION"))
            #expect(try await run("get", "c/d", in: "(default)").output.first?.contains("default") == true)
            let variable = ["HEARTH_DATABASE": "tests", "HEARTH_SERVER": server.address]
            #expect(try await hearth("get", "c/d", environment: variable).output.first?.contains(#""in":"tests""#) == true)
            #expect(try await run("list", in: "a/b/c").status == .code(64))
        }
    }

    @Test func `The command line limits a database`() async throws {
        try await withServer { server in
            func run(_ arguments: String...) async throws -> CommandResult {
                try await HearthProcess(arguments + ["--database", "tests", "--server", server.address]).result()
            }
            let initial = try await run("databases", "quota")
            #expect(initial.output == ["documents: 0 of any number", "bytes: 0 of any number"])
            #expect(try await run("databases", "quota", "--documents", "1").output.first == "documents: 0 of 1")
            #expect(try await run("databases", "quota", "--bytes", "1000").output == ["documents: 0 of 1", "bytes: 0 of 1000"])
            #expect(try await run("set", "c/one", "{}").status == .code(0))
            #expect(try await run("set", "c/two", "{}").errorText.contains("RESOURCE_EXHAUSTED"))
            #expect(try await run("databases", "quota").output.first == "documents: 1 of 1")
            #expect(try await run("databases", "quota", "--none").output.first == "documents: 1 of any number")
            #expect(try await run("set", "c/two", "{}").status == .code(0))
            #expect(try await run("databases", "quota", "--documents", "-1").status == .code(64))
            #expect(try await run("databases", "quota", "--none", "--bytes", "1").status == .code(64))
        }
    }

    @Test func `Admin pages of a database link only to its own pages and to the overviews of others`() async throws {
        try await withServer { server in
            for (database, value) in [("(default)", "here"), ("shop/stock", "there")] {
                let call = ["set", "c/d", #"{"in": "\#(value)"}"#, "--database", database, "--server", server.address]
                #expect(try await HearthProcess(call).result().status == .code(0))
            }
            let other = "/admin/databases/shop/stock/"
            let overview = try await page("/admin/", of: server)
            #expect(overview.text.contains(#"href="\#(other)""#))
            #expect(!overview.text.contains("\(other)data"))
            let document = try await page(other + "data/c/d", of: server)
            #expect(document.text.contains("there") && document.text.contains("shop/stock"))
            #expect(document.text.contains(#"data-stream="\#(other)data/c/d?live&#61;"#))
            #expect(try await page(other + "data/c", of: server).text.contains(#"{&quot;database&quot;:&quot;shop/stock&quot;,"#))
            #expect(document.text.contains(#"href="\#(other)data/c""#))
            #expect(!document.text.contains(#"href="/admin/data/"#))
            #expect(try await page(other + "data/c/x", of: server).status == 404)
            // A database that does not exist is empty, and is not created by reading.
            #expect(try await page("/admin/databases/shop/none/", of: server).status == 200)
            let names = try await HearthProcess(["databases", "--server", server.address]).result().output
            #expect(names == ["hearth/(default)", "shop/stock"])
            #expect(try await page("/admin/databases/hearth/%28default%29/data/c/d", of: server).text.contains("here"))
            #expect(try await page("/admin/databases/shop", of: server).status == 400)
            #expect(try await page("/admin/databases/..%2f../x/", of: server).status == 400)
        }
    }

    private func page(_ path: String, of server: EndToEndServer) async throws -> (status: Int, text: String) {
        let url = try #require(URL(string: server.address + path))
        let (data, response) = try await URLSession.shared.data(from: url)
        return (try #require(response as? HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
    }

    @Test func `No database loses acknowledged commits when the server is killed`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let names = ["(default)", "a", "b", "shop/c"]
            var acknowledged = [Int](repeating: 0, count: names.count)
            for round in 0..<3 {
                let server = try await CrashServer(data: data)
                let counts = try await server.killingOnError {
                    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                        for (index, name) in names.enumerated() {
                            let (first, address) = (acknowledged[index], server.connection.server)
                            group.addTask {
                                let count = try await Self.write(from: first, in: name, at: address) { count in
                                    // At an arbitrary point of the other writers.
                                    if index == round, count == 20 { server.process.send(SIGKILL) }
                                }
                                return (index, count)
                            }
                        }
                        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                    }
                }
                #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
                for (index, count) in counts { acknowledged[index] += count }
            }
            let unclosed = try await hearth("check", "--data", data.path, "--json")
            #expect(unclosed.status == .code(1))
            #expect(unclosed.output.contains { $0.contains(#""database":"shop/c""#) && $0.contains("databases/shop/c/") })
            let server = try await EndToEndServer(data: data)
            for (index, name) in names.enumerated() {
                let ids = try await hearth("list", "c", "--server", server.address, "--database", name).output
                let known = Set(ids)
                #expect((0..<acknowledged[index]).allSatisfy { known.contains("c/\($0)") }, "\(name)")
                // At most one unacknowledged write per round.
                #expect(ids.count <= acknowledged[index] + 3)
            }
            #expect(try await server.stop() == .code(0))
            #expect(try await hearth("check", "--data", data.path).status == .code(0))
            #expect(try await hearth("check", "--data", data.path, "--database", "shop/c").status == .code(0))
        }
    }

    /// Writes documents sequentially until the server is gone; returns the number of acknowledged writes.
    private static func write(
        from first: Int,
        in database: String,
        at server: ServerAddress,
        _ onWrite: (Int) -> Void
    ) async throws -> Int {
        try await HearthConnection.withConnection(to: server, database: database) { connection in
            var count = 0
            while true {
                do {
                    _ = try await connection.set(DocumentPath("c/\(first + count)"), ["n": .integer(Int64(first + count))])
                } catch let error as StatusError where error.code == .unavailable {
                    return count
                }
                count += 1
                onWrite(count)
            }
        }
    }

    @Test func `A damaged database is reported and does not affect others`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let list = { (name: String, server: EndToEndServer) in
                try await hearth("list", "c", "--server", server.address, "--database", name)
            }
            let first = try await EndToEndServer(data: data)
            for name in ["a", "b"] {
                _ = try await hearth("set", "c/d", "{}", "--server", first.address, "--database", name)
            }
            #expect(try await first.stop() == .code(0))
            let description = data.appending(path: "databases/hearth/a/hearth.json")
            let good = try Data(contentsOf: description)
            try Data("{".utf8).write(to: description)

            let second = try await EndToEndServer(data: data)
            let rejected = try await list("a", second)
            #expect(rejected.status == .code(1))
            #expect(rejected.errorText.contains("DATA_LOSS"))
            #expect(!rejected.errorText.contains(data.path))
            #expect(try await list("b", second).output == ["c/d"])
            #expect(try await second.stop() == .code(0))
            for arguments in [["check"], ["check", "--repair"]] {
                let checked = try await HearthProcess(arguments + ["--data", data.path]).result()
                #expect(checked.status == .code(1))
                #expect(checked.output.contains { $0.contains("databases/hearth/a/hearth.json") })
            }
            #expect(try await hearth("check", "--data", data.path, "--database", "b").status == .code(0))
            #expect(try await hearth("check", "--data", data.path, "--database", "(default)").status == .code(0))
            #expect(try await hearth("check", "--data", data.path, "--database", "none").errorText.contains("NOT_FOUND"))
            try good.write(to: description)
            #expect(try await hearth("check", "--data", data.path).status == .code(0))
        }
    }

    @Test func `Databases are repaired individually and together`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data")
            let server = try await EndToEndServer(data: data)
            for name in ["(default)", "a"] {
                _ = try await hearth("set", "c/d", "{}", "--server", server.address, "--database", name)
            }
            #expect(try await server.stop(with: SIGKILL) == .signal(SIGKILL))
            let one = try await hearth("check", "--repair", "--data", data.path, "--database", "a")
            #expect(one.status == .code(0), "\(one)")
            #expect(try await hearth("check", "--data", data.path).output.first?.hasPrefix("notClosed") == true)
            let all = try await hearth("check", "--repair", "--data", data.path)
            #expect(all.status == .code(0))
            #expect(all.output.first?.hasPrefix("2 documents in 2 collections") == true)
        }
    }

    @Test func `Databases belong to the project of the server`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appending(path: "data").path
            func serve(_ project: String) throws -> HearthProcess {
                try HearthProcess(["serve", "--data", data, "--port", "0", "--project", project])
            }
            let process = try serve("shop")
            var lines = process.output.makeAsyncIterator()
            let address = try #require(await lines.next())
            for name in ["(default)", "tests", "other/(default)"] {
                #expect(try await hearth("set", "c/d", "{}", "--server", address, "--database", name).status == .code(0))
            }
            let names = try await hearth("databases", "list", "--server", address).output
            #expect(names == ["shop/(default)", "other/(default)", "shop/tests"])
            #expect(try await process.end(with: SIGTERM) == .code(0))
            // The default database cannot be opened under the project of another one.
            let rejected = try await serve("other").result()
            #expect(rejected.status == .code(1))
            #expect(rejected.errorText.contains("--project"))
            #expect(try await hearth("serve", "--data", data, "--project", "a/b").status == .code(64))
        }
    }

    @Test func `The client can use several databases`() async throws {
        try await withServer { server in
            let settings = FirestoreSettings()
            settings.host = String(server.address.dropFirst("http://".count))
            settings.isSSLEnabled = false
            settings.key = nil
            let (first, other) = (Firestore(settings: settings), Firestore(settings: settings, database: "tests"))
            let (document, twin) = (first.document("c/d"), other.document("c/d"))
            try await document.setData(["n": 1])
            #expect(try await !twin.getDocument().exists)
            var snapshots = twin.snapshots.makeAsyncIterator()
            #expect(try await snapshots.next()?.exists == false)
            try await twin.setData(["n": 2])
            #expect(try await snapshots.next()?.data()?["n"] as? Int == 2)
            #expect(try await document.getDocument().data()?["n"] as? Int == 1)
            #expect(try await other.collection("c").whereField("n", isEqualTo: 2).getDocuments().count == 1)
            // References to other databases are rejected.
            let error = await #expect(throws: FirestoreError.self) { try await twin.setData(["ref": document]) }
            #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
            let sum = try await other.runTransaction { transaction, _ in
                let value = try? transaction.getDocument(twin).data()?["n"] as? Int
                transaction.updateData(["n": (value ?? 0) + 1], forDocument: twin)
                return (value ?? 0) + 1
            }
            #expect(sum as? Int == 3)
            try await first.terminate()
            try await other.terminate()
            #expect(Firestore.firestore(database: "a") === Firestore.firestore(database: "a"))
            #expect(Firestore.firestore(database: "a") !== Firestore.firestore(database: "e\u{301}"))
            #expect(Firestore.firestore(database: "\u{e9}") !== Firestore.firestore(database: "e\u{301}"))
            #expect(Firestore.firestore(database: "(default)") === Firestore.firestore())
        }
    }
}
