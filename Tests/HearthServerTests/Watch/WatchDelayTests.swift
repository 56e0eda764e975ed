import DocumentModel
import StrictJSON
import Testing

/// How long a change takes to whoever watches.
@Suite("The delay of a stream", .timeLimit(.minutes(10)))
struct WatchDelayTests {
    /// Within which a frame is sent after its commit.
    private static let bound = Duration.milliseconds(50)
    /// How many commits have to be told that fast. Not all, since a busy machine stops for longer now and then; where frames wait for
    /// others, for a timer or for the next sign of life, none is.
    private static let enough = 5
    private static let most: Int64 = 200

    @Test("A frame is sent within 50 ms of its commit", arguments: ["ndjson", "sse"])
    func delay(format: String) async throws {
        try await withServer { server in
            let prompt = try await withConnection(to: server) { watcher in
                try await watcher.send(RawConnection.request("GET", "/watch?collection=a&heartbeat=60&format=\(format)"))
                _ = try await watcher.receive(through: #""type":"current""#)
                return try await withConnection(to: server) { other in
                    var prompt = 0
                    for number in 1...Self.most where prompt < Self.enough {
                        try await server.set("a/b", ["number": .integer(number)])
                        let start = ContinuousClock.now
                        _ = try await watcher.receive(through: #""number":\#(number)}"#)
                        let end = ContinuousClock.now
                        // What anything takes on this machine, as busy as it is.
                        _ = try await other.ask("GET", "/health")
                        if end - start < Self.bound + (.now - end) { prompt += 1 }
                    }
                    return prompt
                }
            }
            #expect(prompt == Self.enough)
        }
    }
}
