import Foundation
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// Compatibility of the current version with data folders, keys, tokens and clients of release 0.1.0.
///
/// `Fixtures/release-0.1.0.tar.gz` is a data folder of 0.1.0 after `kill -9`. `release-0.1.0.json` has its keys and watch tokens, and
/// requests with the responses of 0.1.0.
@Suite("Compatibility with release 0.1.0", .tags(.slow), .timeLimit(.minutes(10)))
struct ReleaseTests {
    @Test func `Requests to a data folder of 0.1.0 get the same responses`() async throws {
        try await withRelease { folder, recording in
            try await withServer(folder) { server in
                for call in recording.calls {
                    let description = Comment(rawValue: "\(call.method) \(call.path) \(call.body ?? "")")
                    let response = try await response(to: call, of: recording, by: server)
                    #expect(response.status == call.status, description)
                    #expect(response.type == call.type, description)
                    // Later versions locate more errors, and tell the times of reads by path, and the epochs of times.
                    var added: Set<String> = call.response.contains(#""field":"#) ? [] : ["field"]
                    let readMethods = [#""documents.get""#, #""documents.batchGet""#]
                    if readMethods.contains(where: { call.body?.contains($0) == true }) {
                        added.formUnion(["readTime", "epoch"])
                    }
                    if call.body?.contains(#""query.run""#) == true { added.insert("epoch") }
                    let (actual, expected) = try (comparable(response.body, without: added), comparable(call.response))
                    #expect(actual == expected, description)
                }
            }
        }
    }

    @Test func `A data folder of 0.1.0 passes the check after it was served`() async throws {
        try await withRelease { folder, recording in
            let key = try #require(recording.keys["admin"])
            try await withServer(folder) { server in
                // Additional databases are recovered when they are opened.
                for database in ["tests", "other/tests"] {
                    let list = try await hearth("list", "--database", database, "--server", server.address, "--key", key)
                    #expect(list.output == ["orders"], "\(list)")
                }
            }
            let check = try await hearth("check", "--data", folder.path)
            #expect(check.status == .code(0), "\(check)")
        }
    }

    @Test(arguments: [("document", "document=authored/doc"), ("collection", "collection=books")])
    func `Watch tokens of 0.1.0 resume without a reset`(name: String, target: String) async throws {
        try await withRelease { folder, recording in
            try await withServer(folder) { server in
                let (key, token) = try (#require(recording.keys["admin"]), #require(recording.tokens[name]))
                let url = "\(server.address)/watch?\(target)&resume=\(token)&limit=1"
                let frames = try await shell("curl -sS -H 'Authorization: Bearer \(key)' '\(url)'").output
                let types = try frames.map { try JSONText($0).root["type"]?.string }
                #expect(types.count == 3 && types.first == "open" && types.last == "end", "\(frames)")
                #expect(types.contains("modified") || types.contains("added"), "\(frames)")
            }
        }
    }

    /// Calls `body` with a copy of the data folder.
    private func withRelease(_ body: (URL, ReleaseRecording) async throws -> Void) async throws {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        let json = try Data(contentsOf: fixtures.appending(path: "release-0.1.0.json"))
        let recording = try JSONDecoder().decode(ReleaseRecording.self, from: json)
        try await withTemporaryFolder { folder in
            let archive = fixtures.appending(path: "release-0.1.0.tar.gz").path
            // With the current time as the modification time: journal segments are retained for a day.
            let result = try await shell("tar -xzmf '\(archive)' -C '\(folder.path)'")
            try #require(result.status == .code(0), "\(result)")
            try await body(folder.appending(path: "data"), recording)
        }
    }

    /// Calls `body` with a server on the data folder, and expects that the server shuts down cleanly.
    private func withServer(_ folder: URL, _ body: (EndToEndServer) async throws -> Void) async throws {
        let server = try await EndToEndServer(data: folder, arguments: ["--project", "shop"])
        do {
            try await body(server)
        } catch {
            _ = try await server.stop(with: SIGKILL)
            throw error
        }
        #expect(try await server.stop() == .code(0))
    }

    private func response(
        to call: RecordedCall,
        of recording: ReleaseRecording,
        by server: EndToEndServer
    ) async throws -> RecordedResponse {
        let key = try call.key.map { try #require(recording.keys[$0]) } ?? "none"
        // A slow server needs longer for a stream that ends at a limit or sends a state.
        let path = call.path.replacing(
            "timeout=1",
            with: call.response.contains(#""reason":"limit""#) ? "timeout=60" : "timeout=5"
        )
        var line =
            "curl -sS --globoff --path-as-is -X \(call.method) -H 'Authorization: Bearer \(key)' '\(server.address)\(path)'"
        if call.body != nil { line += " -H 'Content-Type: application/json' --data-binary @-" }
        line += #" -w '\n%{content_type}\n%{http_code}'"#
        let result = try await HearthProcess(["-c", line], program: URL(filePath: "/bin/bash"), input: call.body ?? "").result()
        try #require(result.status == .code(0) && result.output.count >= 3, "\(result)")
        return RecordedResponse(
            status: try #require(Int(result.output[result.output.count - 1])),
            type: result.output[result.output.count - 2],
            body: result.output.dropLast(2).joined(separator: "\n")
        )
    }
}

/// Returns the JSON values of a response without members that may differ between versions and runs: messages, tokens, times and
/// states of the run.
///
/// - Parameter added: Members of error data and of results that 0.1.0 did not have.
private func comparable(_ body: String, without added: Set<String> = []) throws -> [String] {
    if let root = try? JSONText(body).root { return [comparable(root, in: nil, without: added)] }
    return try body.split(separator: "\n").map { comparable(try JSONText(String($0)).root, in: nil, without: added) }
}

/// Returns a JSON value without the members that may differ.
///
/// - Parameter name: The name of the member that has the value.
private func comparable(_ node: JSONNode, in name: String?, without added: Set<String>) -> String {
    switch name {
    case "message", "readTime", "token", "nextPageToken", "transaction", "errorId", "retained", "heartbeat": return "…"
    case "state", "documentsDone": return "…"
    default: break
    }
    if let elements = node.elements {
        return "[" + elements.map { comparable($0, in: nil, without: added) }.joined(separator: ",") + "]"
    }
    guard let members = node.members else { return String(decoding: node.rawBytes, as: UTF8.self) }
    let texts = members.compactMap { key, value -> String? in
        // The reason in a frame is for programs, that in a parameter error for people.
        if name == "data", key.string == "reason" { return "reason:…" }
        if name == "data" || name == "result", added.contains(key.string) { return nil }
        // Frames without a change tell the time of their position.
        if key.string == "time", let type = node["type"]?.string, ["open", "current", "checkpoint"].contains(type) { return nil }
        if key.string == "document", node["type"]?.string == "removed" { return nil }
        // Depends on the state of the index.
        if key.string == "documentsTotal" { return nil }
        return "\(key.string):\(comparable(value, in: key.string, without: added))"
    }
    return "{" + texts.joined(separator: ",") + "}"
}

/// The contents of `release-0.1.0.json`.
private struct ReleaseRecording: Decodable {
    /// The keys by name.
    let keys: [String: String]
    /// The tokens of watch streams by kind of target.
    let tokens: [String: String]
    let calls: [RecordedCall]
}

/// A request, and the response of 0.1.0.
private struct RecordedCall: Decodable {
    let method: String
    let path: String
    let body: String?
    /// The name of the key; `nil` for a request without a valid key.
    let key: String?
    let status: Int
    /// The content type.
    let type: String
    let response: String
}

private struct RecordedResponse {
    let status: Int
    let type: String
    let body: String
}
