import DocumentModel
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// The latency from commit to frame.
@Suite("Watch latency", .timeLimit(.minutes(10)))
struct WatchLatencyTests {
    /// The maximum latency.
    private static let bound = Duration.milliseconds(50)
    /// The number of commits that must meet it. Not all, because a loaded machine pauses for longer now and then; if frames waited for
    /// other commits, a timer or a heartbeat, none would.
    private static let requiredCount = 5
    private static let maximumCommits: Int64 = 200

    @Test(arguments: ["ndjson", "sse"])
    func `A frame is sent within 50 ms of its commit`(format: String) async throws {
        try await withServer { server in
            let promptCount = try await withConnection(to: server) { watcher in
                try await watcher.send(RawConnection.request("GET", "/watch?collection=a&heartbeat=60&format=\(format)"))
                _ = try await watcher.receive(through: #""type":"current""#)
                return try await withConnection(to: server) { other in
                    var promptCount = 0
                    for number in 1...Self.maximumCommits where promptCount < Self.requiredCount {
                        try await server.set("a/b", ["number": .integer(number)])
                        let start = ContinuousClock.now
                        _ = try await watcher.receive(through: #""number":\#(number)}"#)
                        let end = ContinuousClock.now
                        // The current response time of this machine.
                        _ = try await other.send("GET", "/health")
                        if end - start < Self.bound + (.now - end) { promptCount += 1 }
                    }
                    return promptCount
                }
            }
            #expect(promptCount == Self.requiredCount)
        }
    }
}
