import DocumentModel
import Foundation
import HearthClient
import HearthWire
import StrictJSON
import TestSupport
import Testing
import UTF8Text

extension EndToEndServer {
    /// The port of the server.
    var port: Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Writes a document with a number, and returns its commit time.
    @discardableResult
    func write(_ path: String, _ number: Int64) async throws -> Timestamp {
        let result = try await connection.set(DocumentPath(path), ["n": .integer(number)])
        return try #require(result.updateTime)
    }

    /// Returns the number in a document; `nil` if it does not exist.
    func value(of path: String) async throws -> Int64? {
        do {
            let document = try await connection.call("documents.get") { $0.member("path", path) }
            guard case .integer(let number)? = document["fields"]?["n"]?.number else { return nil }
            return number
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    func information() async throws -> ServerInformation {
        try await connection.serverInformation()
    }

    /// Runs a client command.
    func run(_ arguments: [String]) async throws -> CommandResult {
        try await HearthProcess(arguments + ["--server", address]).result()
    }

    /// Waits until this server has the commits that another one has now.
    func waitForCommits(of other: EndToEndServer) async throws {
        let wanted = try await other.information()
        try await eventually {
            guard let found = try? await self.information() else { return false }
            return found.epoch == wanted.epoch && found.sequence >= wanted.sequence
        }
    }

    /// Waits until the metrics show that nothing is applied.
    func waitForFailure() async throws {
        try await eventually { try await self.metrics()["hearth_standby_failed"] == 1 }
    }

    /// Returns the series without labels.
    func metrics() async throws -> [String: Double] {
        let lines = try await shell("curl -s \(address)/metrics").output.filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                let parts = line.split(separator: " ")
                return parts.count == 2 ? Double(parts[1]).map { (String(parts[0]), $0) } : nil
            }
        ) { first, _ in first }
    }

    /// Returns the response to a read of a document, with its times.
    func document(_ path: String) async throws -> [String] {
        let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"\#(path)"}}"#
        return try await shell("curl -s \(address)/rpc --json '\(call)'").output
    }

    /// Returns all documents, with their times.
    func exported() async throws -> [String] {
        try await run(["export", "--times"]).output
    }

    /// Returns the changes of all documents of a collection since a token, each with the commit that made it.
    func changes(in collection: String, since token: String) async throws -> [String] {
        var (changes, token, hasMore) = ([String](), token, true)
        while hasMore {
            let result = try await connection.call("changes.poll") { [token] params in
                params.member("collection", collection)
                params.member("resume", token)
            }
            for change in result["changes"]?.elements.map(Array.init) ?? [] {
                changes.append(String(decoding: change.rawBytes, as: UTF8.self))
            }
            token = try #require(result["token"]?.string)
            hasMore = result["more"]?.boolean ?? false
        }
        return changes
    }

    /// Returns a token of the present state of a collection.
    func pollToken(of collection: String) async throws -> String {
        let result = try await connection.call("changes.poll") { $0.member("collection", collection) }
        return try #require(result["token"]?.string)
    }

    /// Returns a token of the present state of the collection `books`.
    func token() async throws -> String {
        for try await frame in try await connection.watch(.collection(CollectionPath("books"))) where frame.kind == .current {
            return try #require(frame.token)
        }
        throw StatusError(.unavailable, "The stream has ended.")
    }

    /// Resumes a stream of the collection `books`, and returns the kinds of its frames up to the one of a document.
    func frames(resuming token: String, through path: String) async throws -> [WatchFrame.Kind] {
        var kinds: [WatchFrame.Kind] = []
        for try await frame in try await connection.watch(.collection(CollectionPath("books")), resume: token) {
            kinds.append(frame.kind)
            if try frame.document()?.path.string == path { return kinds }
        }
        return kinds
    }
}

/// Waits until a condition holds. The time limit of the test bounds the wait.
func eventually(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(50)) }
}

/// The servers of a test, which are killed if it fails.
actor ServerList {
    private var servers: [EndToEndServer] = []

    /// Starts a server.
    func start(data folder: URL, port: String = "0", arguments: [String] = []) async throws -> EndToEndServer {
        let server = try await EndToEndServer(data: folder, port: port, arguments: arguments)
        servers.append(server)
        return server
    }

    func kill() async {
        for server in servers {
            server.process.send(SIGKILL)
            await server.connection.shutdown()
        }
    }
}

/// Calls `body` with a temporary folder and a list of servers, which are killed if it throws.
func withServers(_ body: (URL, ServerList) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        let servers = ServerList()
        do {
            try await body(folder, servers)
        } catch {
            await servers.kill()
            throw error
        }
    }
}
