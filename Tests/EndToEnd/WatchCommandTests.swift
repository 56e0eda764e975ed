import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("hearth watch", .timeLimit(.minutes(10)))
struct WatchCommandTests {
    /// Summarizes a frame: `added books/a@0`.
    private func summary(_ line: String) throws -> String {
        let frame = try JSONText(line).root
        let path = frame["document"]?["path"]?.string ?? frame["path"]?.string ?? frame["reason"]?.string
        var index = ""
        if case .integer(let number)? = frame["newIndex"]?.number { index = "@\(number)" }
        return [frame["type"]?.string, path].compactMap(\.self).joined(separator: " ") + index
    }

    @Test(arguments: [
        ["watch"], ["watch", "books", "--group", "reviews"], ["watch", "--group", "a/b"], ["watch", "--query", "{"],
        ["watch", "--query", "[]"], ["watch", "--query", "{}", "--group", "reviews"],
    ])
    func `Rejects missing, several or invalid targets`(arguments: [String]) async throws {
        let result = try await HearthProcess(arguments).result()
        #expect(result.status == .code(64))
        #expect(result.errors.contains { $0.hasPrefix("Usage: hearth") }, "\(result)")
    }

    @Test func `Fails if the server is unreachable or the query is invalid`() async throws {
        let unreachable = try await hearth("watch", "books", "--server", "http://127.0.0.1:1")
        #expect(unreachable.status == .code(1))
        #expect(unreachable.errorText.contains("hearth serve"))
        try await withServer { server in
            let wrong = try await hearth("watch", "--query", #"{"collection": "books", "limit": -1}"#, "--server", server.address)
            #expect(wrong.status == .code(1))
            #expect(wrong.errorText.contains("INVALID_ARGUMENT"))
            #expect(wrong.output == [])
        }
    }

    @Test func `Watches queries and collection groups`() async throws {
        try await withServer { server in
            for (path, n) in [("books/a", 1), ("books/b", 2), ("books/a/reviews/r", 3)] {
                _ = try await server.connection.set(DocumentPath(path), ["n": .integer(Int64(n))])
            }
            let query = #"{"collection": "books", "orderBy": [{"field": "n", "direction": "desc"}], "limit": 1}"#
            let targets = [["--query", query], ["--query", "-"], ["--group", "reviews"]]
            let expected = [
                ["added books/b@0", "removed books/b", "added books/c@0"],
                ["added books/b@0", "removed books/b", "added books/c@0"],
                ["added books/a/reviews/r", "modified books/a/reviews/r"],
            ]
            let watches = try targets.map { target in
                try HearthProcess(["watch", "--server", server.address] + target, input: query)
            }
            var lines = watches.map { $0.output.makeAsyncIterator() }
            var seen = watches.map { _ in [String]() }
            for index in watches.indices {
                while let line = await lines[index].next(), !line.contains(#""type":"current""#) { seen[index].append(line) }
            }
            _ = try await server.connection.set(DocumentPath("books/c"), ["n": .integer(9)])
            _ = try await server.connection.set(DocumentPath("books/a/reviews/r"), ["n": .integer(4)])
            for index in watches.indices {
                while seen[index].count < expected[index].count + 1, let line = await lines[index].next() {
                    seen[index].append(line)
                }
                #expect(try seen[index].dropFirst().map(summary) == expected[index])
                #expect(try await watches[index].end(with: SIGINT) == .code(0))
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `Resumes after a restart of the server`(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            var server = try await EndToEndServer(data: folder)
            let port = try #require(server.address.split(separator: ":").last.map(String.init))
            _ = try await server.connection.set(DocumentPath("books/a"), [:])
            let watch = try HearthProcess(["watch", "books", "--server", server.address])
            var lines = watch.output.makeAsyncIterator()
            while let line = await lines.next(), !line.contains(#""type":"current""#) {}
            _ = try await server.stop(with: signal)
            server = try await EndToEndServer(data: folder, port: port)
            let writes = try ["b", "c"].map { try Write.set(DocumentPath("books/\($0)"), [:]) }
            _ = try await server.connection.commit(writes)
            _ = try await server.connection.delete(DocumentPath("books/a"))
            var seen: [String] = []
            while seen.last != "deleted books/a", let line = await lines.next() { seen.append(try summary(line)) }
            #expect(
                seen.filter { !["checkpoint", "end shutdown"].contains($0) }
                    == ["open", "added books/b", "added books/c", "deleted books/a"]
            )
            #expect(try await watch.end(with: SIGINT) == .code(0))
            if signal == SIGKILL {
                #expect(await watch.errors.reduce(into: []) { $0.append($1) }.contains { $0.hasSuffix("Reconnecting.") })
            }
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `Ends when its key is revoked`() async throws {
        try await withServer { server in
            let made = try await hearth("keys", "create", "--role", "reader", "--data", server.folder.path)
            let key = try #require(made.output.first)
            let watch = try HearthProcess(["watch", "books", "--server", server.address], environment: ["HEARTH_KEY": key])
            var lines = watch.output.makeAsyncIterator()
            while let line = await lines.next(), !line.contains(#""type":"current""#) {}
            let id = String(key.split(separator: "_")[1])
            #expect(try await hearth("keys", "revoke", id, "--data", server.folder.path).status == .code(0))
            #expect(try await lines.next().map(summary) == "end revoked")
            #expect(try await watch.exitStatus() == .code(1))
            #expect(await watch.errors.reduce(into: []) { $0.append($1) }.contains { $0.contains("UNAUTHENTICATED") })
        }
    }
}
