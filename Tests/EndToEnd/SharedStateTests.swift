import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

/// The knowledge of each other of servers that share an engine: state that a data folder keeps in files, and what clients take from one server
/// to another.
@Suite("State that servers share", EngineServer.condition, .tags(.slow), .timeLimit(.minutes(10)))
struct SharedStateTests {
    /// Calls a method of a server, and returns the response.
    private func call(
        _ method: String,
        _ params: String,
        of server: EndToEndServer,
        key: String? = nil
    ) async throws -> JSONNode {
        let authorization = key.map { "-H 'Authorization: Bearer \($0)'" } ?? ""
        let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        let result = try await shell("curl -s \(authorization) \(server.address)/rpc --json '\(body)'")
        return try JSONText(Array(result.output.joined().utf8)).root
    }

    /// Calls `body` with two servers on an empty database of an engine. It may kill the first.
    private func withTwoServers(_ body: (EndToEndServer, EndToEndServer, _ engine: String) async throws -> Void) async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let first = try await EndToEndServer(data: folder.appendingPathComponent("first"), engine: url)
            let second = try await EndToEndServer(data: folder.appendingPathComponent("second"), engine: url)
            do {
                try await body(first, second, url)
            } catch {
                for server in [first, second] { _ = try? await server.stop(with: SIGKILL) }
                throw error
            }
            _ = try? await first.stop(with: SIGKILL)
            #expect(try await second.stop() == .code(0))
        }
    }

    /// Repeats a check until it holds. The time limit of the test bounds it.
    private func wait(until isMet: () async throws -> Bool) async throws {
        while try await !isMet() { try await Task.sleep(for: .milliseconds(50)) }
    }

    @Test func `A key, rules, an index and a quota that one server is given hold on the other`() async throws {
        try await withTwoServers { first, second, engine in
            let admin = try #require(try await hearth("keys", "create", "--role", "admin", "--engine", engine).output.first)
            for server in [first, second] {
                try await wait { try await call("server.info", "{}", of: server)["error"] != nil }
                #expect(try await call("server.info", "{}", of: server, key: admin)["result"] != nil)
            }
            let made = try await call("keys.create", #"{"role":"reader"}"#, of: first, key: admin)["result"]
            let (reader, id) = (try #require(made?["key"]?.string), try #require(made?["id"]?.string))
            #expect(try await call("collections.list", "{}", of: second, key: reader)["result"] != nil)
            #expect(try await call("keys.revoke", #"{"id":"\#(id)"}"#, of: first, key: admin)["result"] != nil)
            try await wait { try await call("collections.list", "{}", of: second, key: reader)["error"] != nil }
            let rules = #"service cloud.firestore {match /databases/{d}/documents {match /open/{x} {allow read: if true;}}}"#
            #expect(try await call("rules.set", #"{"rules":"\#(rules)"}"#, of: second, key: admin)["result"] != nil)
            try await wait {
                try await call("documents.get", #"{"path":"open/a"}"#, of: first)["error"]?["data"]?["status"]?.string
                    == "NOT_FOUND"
            }
            #expect(try await call("documents.get", #"{"path":"shut/a"}"#, of: first)["result"] == nil)
            let index = #"{"collection":"a","fields":[{"field":"b"},{"field":"c"}]}"#
            #expect(try await call("indexes.create", index, of: first, key: admin)["result"] != nil)
            let indexes = try await call("indexes.list", "{}", of: second, key: admin)["result"]?["indexes"]
            #expect(indexes?.count == 1)
            #expect(try await call("databases.setQuota", #"{"documentCount":0}"#, of: first, key: admin)["result"] != nil)
            let write = #"{"path":"a/b","fields":{}}"#
            let refused = try await call("documents.set", write, of: second, key: admin)["error"]?["data"]?["status"]?.string
            #expect(refused == "RESOURCE_EXHAUSTED")
        }
    }

    @Test func `A database that one server makes, deletes and makes again is the same on the other`() async throws {
        try await withTwoServers { first, second, _ in
            func documents(on server: EndToEndServer) async throws -> Int? {
                let list = try await call("documents.list", #"{"database":"tests","collection":"c"}"#, of: server)
                return list["result"]?["documents"]?.count
            }
            // The server knows the name of a database that does not exist yet.
            #expect(try await documents(on: second) == 0)
            let name = #"{"name":"tests"}"#
            #expect(try await call("databases.create", name, of: first)["result"] != nil)
            let refused = try await call("databases.create", name, of: second)["error"]?["data"]?["status"]?.string
            #expect(refused == "ALREADY_EXISTS")
            #expect(try await call("databases.list", "{}", of: second)["result"]?["databases"]?.count == 2)
            for count in 1...3 as ClosedRange<Int> {
                for number in 0..<count {
                    let write = #"{"database":"tests","path":"c/d\#(number)","fields":{}}"#
                    #expect(try await call("documents.set", write, of: first)["result"] != nil)
                }
                try await wait { try await documents(on: second) == count }
                #expect(try await call("databases.delete", #"{"name":"tests"}"#, of: first)["result"] != nil)
            }
            try await wait { try await documents(on: second) == 0 }
        }
    }

    @Test func `What clients have of a killed server is good on another one`() async throws {
        try await withTwoServers { first, second, _ in
            for number in 0..<4 as Range<Int64> {
                try await first.connection.set(DocumentPath("c/\(number)"), ["number": .integer(number)])
            }
            try await first.connection.set(DocumentPath("c/counter"), ["n": .integer(0)])
            let page = try await call("documents.list", #"{"collection":"c","pageSize":2}"#, of: first)["result"]
            let pageToken = try #require(page?["nextPageToken"]?.string)
            var token: String?
            for try await frame in try await first.connection.watch(.collection(CollectionPath("c"))) where frame.kind == .current
            {
                token = frame.token
                break
            }
            let readOnly = try await first.connection.beginTransaction(isReadOnly: true)
            let readWrite = try await first.connection.beginTransaction()
            let get = #"{"path":"c/0","transaction":"\#(readWrite)"}"#
            #expect(try await call("documents.get", get, of: first)["result"] != nil)
            let identified = #"""
                {"writes":[{"update":{"path":"c/counter","transforms":[{"field":"n","increment":1}]}}],"identity":{"client":"AAECAwQFBgcICQoLDA0ODw","number":1}}
                """#
            let committed = try await call("documents.commit", identified, of: first)["result"]
            #expect(try await first.process.end(with: SIGKILL) == .signal(SIGKILL))

            try await second.connection.set(DocumentPath("c/0"), ["number": .integer(100)])
            let rest = try await call(
                "documents.list",
                #"{"collection":"c","pageSize":9,"pageToken":"\#(pageToken)"}"#,
                of: second
            )["result"]
            #expect(rest?["documents"]?.count == 3)
            var received: [WatchFrame.Kind] = []
            for try await frame in try await second.connection.watch(.collection(CollectionPath("c")), resume: token) {
                received.append(frame.kind)
                if try frame.document()?.path == DocumentPath("c/0") { break }
            }
            #expect(!received.contains(.reset) && received.last == .modified, "\(received)")
            let old = try await call("documents.get", #"{"path":"c/0","transaction":"\#(readOnly)"}"#, of: second)["result"]
            #expect(old?["fields"]?["number"]?.number == .integer(0))
            let write = #"{"writes":[{"set":{"path":"c/0","fields":{}}}],"transaction":"\#(readOnly)"}"#
            let refused = try await call("documents.commit", write, of: second)["error"]?["data"]?["status"]?.string
            #expect(refused == "INVALID_ARGUMENT")
            for method in ["documents.get", "documents.commit"] {
                let params =
                    method == "documents.get"
                    ? get : #"{"writes":[{"set":{"path":"c/0","fields":{}}}],"transaction":"\#(readWrite)"}"#
                let aborted = try await call(method, params, of: second)["error"]?["data"]?["status"]?.string
                #expect(aborted == "ABORTED", "\(method)")
            }
            let again = try await call("documents.commit", identified, of: second)["result"]
            #expect(again?["commitTime"]?.string == committed?["commitTime"]?.string)
            #expect(try await second.connection.document(at: DocumentPath("c/counter")).decoded().fields["n"] == .integer(1))
        }
    }

    @Test func `Documents move from a data folder to an engine and back, with their times`() async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let (data, own) = (folder.appendingPathComponent("data"), folder.appendingPathComponent("server"))
            func export(_ server: EndToEndServer) async throws -> [String] {
                try await hearth("export", "--times", "--server", server.address).output
            }
            let source = try await EndToEndServer(data: data)
            let long = String(repeating: "ü", count: 700)
            let values =
                #"{"a":null,"b":[1,1.5,{"$bytes":"AAEC"}],"c":{"$timestamp":"2026-01-02T03:04:05.678901Z"},"d":{"$geoPoint":{"latitude":1,"longitude":2}},"ä":"x"}"#
            for path in ["c/a", "c/b", "c/b/d/e", "missing/m/below/x", "n/\(long)"] {
                #expect(try await hearth("set", path, values, "--server", source.address).status == .code(0), "\(path)")
            }
            #expect(try await hearth("set", "c/b", #"{"changed":true}"#, "--server", source.address).status == .code(0))
            let lines = try await export(source)
            #expect(lines.count == 5)
            #expect(try await source.stop() == .code(0))

            let imported = try await hearth("import", "--engine", url, "-", input: lines.joined(separator: "\n"))
            #expect(imported.status == .code(0) && imported.output == ["5 documents imported"], "\(imported)")
            let refused = try await hearth("import", "--engine", url, "-", input: lines[0])
            #expect(refused.status == .code(1) && refused.errorText.contains("not empty"), "\(refused)")
            let shared = try await EndToEndServer(data: own, engine: url)
            #expect(try await export(shared) == lines)
            #expect(try await call("query.run", #"{"collection":"c"}"#, of: shared)["result"]?["documents"]?.count == 2)
            let size = try await call("collections.size", #"{"collection":"c"}"#, of: shared)["result"]
            #expect(size?["documentCount"]?.number == .integer(2), "\(String(describing: size))")
            #expect(try await hearth("set", "c/new", "{}", "--server", shared.address).status == .code(0))
            let changed = try await export(shared)
            #expect(changed.count == 6 && Set(lines).isSubset(of: changed))
            #expect(try await shared.stop() == .code(0))

            let copy = folder.appendingPathComponent("copy")
            let back = try await hearth("import", "--data", copy.path, "-", input: changed.joined(separator: "\n"))
            #expect(back.status == .code(0), "\(back)")
            let target = try await EndToEndServer(data: copy)
            #expect(try await export(target) == changed)
            #expect(try await target.stop() == .code(0))
        }
    }

    @Test func `A failed import into an engine keeps its keys, and can be repeated`() async throws {
        let engine = try await EngineServer.shared.value
        let url = engine.url(try await engine.makeDatabase())
        let key = try #require(try await hearth("keys", "create", "--role", "admin", "--engine", url).output.first)
        let line = #"{"path":"c/a","fields":{}}"#
        let failed = try await hearth("import", "--engine", url, "-", "missing.ndjson", input: line)
        #expect(failed.status == .code(1), "\(failed)")
        #expect(try await hearth("import", "--engine", url, "-", input: line).output == ["1 document imported"])
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder.appendingPathComponent("server"), engine: url)
            #expect(try await call("documents.get", #"{"path":"c/a"}"#, of: server)["error"] != nil)
            #expect(try await call("documents.get", #"{"path":"c/a"}"#, of: server, key: key)["result"] != nil)
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `A transaction of the Swift client whose server dies is run again on another one`() async throws {
        try await withTwoServers { first, second, engine in
            let settings = FirestoreSettings()
            settings.host = String(first.address.dropFirst("http://".count))
            settings.isSSLEnabled = false
            let db = Firestore(settings: settings)
            let counter = db.document("c/counter")
            try await counter.setData(["n": 10])
            let attempts = Mutex<[Int64]>([])
            let port = String(try #require(first.address.split(separator: ":").last))
            let folder = first.folder.deletingLastPathComponent().appendingPathComponent("third")
            // It takes the address of the one that is killed.
            let third = Mutex<EndToEndServer?>(nil)
            try await db.runTransaction { transaction in
                let number = try await transaction.getDocument(counter).data()?["n"] as? Int64 ?? 0
                let isFirst = attempts.withLock { attempts in
                    attempts.append(number)
                    return attempts.count == 1
                }
                if isFirst {
                    _ = try await first.process.end(with: SIGKILL)
                    let server = try await EndToEndServer(data: folder, engine: engine, port: port)
                    third.withLock { $0 = server }
                    // The change of another client in between must not get lost.
                    try await second.connection.set(DocumentPath("c/counter"), ["n": .integer(15)])
                }
                transaction.updateData(["n": number - 1], forDocument: counter)
            }
            #expect(attempts.withLock { $0 } == [10, 15])
            let document = try await counter.getDocument()
            #expect(document.data()?["n"] as? Int64 == 14)
            try await db.terminate()
            let started = third.withLock { $0 }
            #expect(try await #require(started).stop() == .code(0))
        }
    }

    @Test func `A browser that signed in to a killed server is signed in to the others, until it signs out`() async throws {
        try await withTwoServers { first, second, engine in
            let key = try #require(try await hearth("keys", "create", "--role", "admin", "--engine", engine).output.first)
            for server in [first, second] { try await wait { try await call("server.info", "{}", of: server)["error"] != nil } }
            let jar = first.folder.path + ".cookies"
            func form(_ page: String, of server: EndToEndServer) async throws -> String {
                let fetch =
                    "curl -s -b '\(jar)' -c '\(jar)' '\(server.address)\(page)' | grep -o 'name=\"form-token\" value=\"[^\"]*' | head -1"
                return try #require(try await shell(fetch).output.first?.split(separator: "\"").last.map(String.init))
            }
            func status(_ request: String) async throws -> String? {
                try await shell("curl -s -b '\(jar)' -c '\(jar)' -o /dev/null -w '%{http_code}' \(request)").output.first
            }
            // The form of one server is sent to the other.
            let signIn = try await form("/admin/sign-in", of: first)
            let fields = "-d 'form-token=\(signIn)' -d next=/admin/ --data-urlencode 'key=\(key)'"
            #expect(try await status("\(fields) -H 'Sec-Fetch-Site: same-origin' '\(second.address)/admin/sign-in'") == "303")
            #expect(try await status("'\(first.address)/admin/'") == "200")
            #expect(try await first.process.end(with: SIGKILL) == .signal(SIGKILL))
            #expect(try await status("'\(second.address)/admin/'") == "200")
            let third = try await EndToEndServer(data: first.folder, engine: engine)
            #expect(try await status("'\(third.address)/admin/'") == "200")
            let session = try await shell("cat '\(jar)'").output
            let signOut =
                "-H 'Sec-Fetch-Site: same-origin' -d 'form-token=\(try await form("/admin/settings", of: third))' '\(third.address)/admin/sign-out'"
            #expect(try await status(signOut) == "303")
            // As a thief of the cookie would.
            try (session.joined(separator: "\n") + "\n").write(toFile: jar, atomically: true, encoding: .utf8)
            try await wait { try await status("'\(second.address)/admin/'") != "200" }
            #expect(try await third.stop() == .code(0))
        }
    }

    @Test func `A job of a killed server is listed on the others, which tell that it has ended`() async throws {
        try await withTwoServers { first, second, _ in
            for batch in 0..<6 {
                let writes = (0..<500).map { #"{"set":{"path":"books/b\#(batch * 500 + $0)","fields":{}}}"# }
                let params = #"{"writes":[\#(writes.joined(separator: ","))]}"#
                let body = #"{"jsonrpc":"2.0","id":1,"method":"documents.batchWrite","params":\#(params)}"#
                let file = first.folder.path + ".json"
                try body.write(toFile: file, atomically: true, encoding: .utf8)
                let result = try await shell("curl -s \(first.address)/rpc --json '@\(file)'")
                #expect(try JSONText(Array(result.output.joined().utf8)).root["result"] != nil)
            }
            let form = try await shell("curl -s '\(first.address)/admin/data/books?delete'").output.joined()
            func value(_ name: String) throws -> Substring {
                let value = try #require(form.firstRange(of: "name=\"\(name)\" value=\"")).upperBound
                return form[value...].prefix { $0 != "\"" }
            }
            let fields = "-d 'form-token=\(try value("form-token"))' -d 'at=\(try value("at"))' -d name=books"
            let deletion = Task { [address = first.address] in
                _ = try await shell("curl -s -H 'Sec-Fetch-Site: same-origin' \(fields) '\(address)/admin/data/books?delete'")
            }
            func jobs() async throws -> String { try await shell("curl -s '\(second.address)/admin/jobs'").output.joined() }
            try await wait { try await jobs().contains("In progress") }
            #expect(try await first.process.end(with: SIGKILL) == .signal(SIGKILL))
            try await deletion.value
            try await wait { try await jobs().contains("Failed") }
            let link = try #require(try await jobs().firstMatch(of: /href="(\/admin\/jobs\/[^"]+)"/)?.1)
            let page = try await shell("curl -s '\(second.address)\(link)'").output.joined()
            #expect(page.contains("The server that ran the job has ended"))
            #expect(!page.contains(">Stop<"))
        }
    }
}
