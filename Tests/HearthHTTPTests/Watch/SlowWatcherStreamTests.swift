import DocumentModel
import HearthAPI
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

/// Watchers that don't read must not affect others.
@Suite(.timeLimit(.minutes(10))) struct SlowWatcherStreamTests {
    @Test
    func `Commits don't wait for watchers that don't read`() async throws {
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

                // The characters that take longest to escape.
                let text = String(repeating: "\u{2027}", count: 100_000)
                // The fastest of some, since a loaded machine pauses now and then.
                var fastest = Duration.seconds(60)
                for number in 0..<5 as Range<Int64> {
                    try await server.set("large/\(number)", ["text": .string(text)])
                    let start = ContinuousClock.now
                    try await server.set("small/x", ["number": .integer(number)])
                    fastest = min(fastest, ContinuousClock.now - start)
                }
                #expect(fastest < .seconds(2))
                group.cancelAll()
            }
        }
    }

    @Test
    func `A reader that stops for a while receives the pending frames, and then the end of the stream`() async throws {
        try await withServer(.standard.with(\.stallTimeout, .seconds(1)).with(\.stallGrace, .seconds(600))) { server in
            let text = String(repeating: "x", count: 700_000)
            for number in 0..<16 as Range<Int64> {
                try await server.set("a/d\(number)", ["number": .integer(number), "text": .string(text)])
            }
            var isEnded = false
            // A slow machine may need longer until the buffers of the connection have been full for the stall timeout.
            var pause = 4
            while !isEnded {
                // Not too small: the kernel reopens a tiny window with long pauses.
                try await withConnection(to: server, receiveBuffer: 65_536) { connection in
                    try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                    _ = try await connection.receive(through: #""number":0,"#)
                    try await Task.sleep(for: .seconds(pause))
                    var (isCurrent, isOpen) = (false, true)
                    var last = ""
                    while isOpen, !isEnded {
                        let bytes = try await connection.receiveSome().suffix(1_000)
                        last = String(decoding: Array(last.utf8) + bytes, as: UTF8.self)
                        isEnded = last.contains(#"{"type":"end","reason":"slow""#)
                        isOpen = !last.contains(#""path":"a/after\#(pause)""#)
                        // A stream that has not ended goes on with the next commit.
                        if !isCurrent, last.contains(#"{"type":"current""#) {
                            isCurrent = true
                            try await server.set("a/after\(pause)", [:])
                        }
                        last = String(last.suffix(1_000))
                    }
                    if isEnded { _ = try await connection.receiveAll() }
                }
                pause *= 2
            }
        }
    }

    private func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        continuation.finish()
    }
}
