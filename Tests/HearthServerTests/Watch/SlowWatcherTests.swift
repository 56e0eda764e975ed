import DocumentModel
import HearthService
import StrictJSON
import Testing

@testable import HearthServer

/// What watchers that do not read can't do to others.
@Suite(.timeLimit(.minutes(1))) struct SlowWatcherTests {
    @Test("A commit does not wait for watchers, however many are told of it and read nothing")
    func commits() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                let (streams, begun) = AsyncStream<Void>.makeStream()
                let count = 40
                for _ in 0..<count {
                    group.addTask {
                        try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                            try await connection.send(RawConnection.request("GET", "/watch?collection=large"))
                            _ = try await connection.receive(through: #""current""#)
                            begun.yield()
                            await untilCancelled()
                        }
                    }
                }
                var iterator = streams.makeAsyncIterator()
                for _ in 0..<count { await iterator.next() }

                // Characters that take the longest to look at.
                let text = String(repeating: "\u{2027}", count: 100_000)
                var slowest = Duration.zero
                for number in 0..<2 as Range<Int64> {
                    try await server.set("large/\(number)", ["text": .string(text)])
                    let start = ContinuousClock.now
                    try await server.set("small/x", ["number": .integer(number)])
                    slowest = max(slowest, ContinuousClock.now - start)
                }
                #expect(slowest < .seconds(2))
                group.cancelAll()
            }
        }
    }

    private func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        continuation.finish()
    }
}
