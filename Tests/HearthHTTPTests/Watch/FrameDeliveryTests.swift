import DocumentModel
import HearthAPI
import ServerTestSupport
import Testing
import UTF8Text

@testable import HearthHTTP

/// Frames of new commits, which are sent on the event loops and shared by the streams of a target.
@Suite(.timeLimit(.minutes(10))) struct FrameDeliveryTests {
    @Test
    func `Streams of the same targets, opened while documents are written, receive each document once and in order`() async throws
    {
        let count = 200
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 0..<count {
                        try await server.set("a/d\(number)", ["number": .integer(Int64(number))])
                        try await server.set("b/x", ["number": .integer(Int64(number))])
                    }
                }
                let targets = [
                    "collection=a", "collection=a&include=paths", #"query={"collection":"a"}"#, "collection=b", "document=b/x",
                ]
                for stream in 0..<20 {
                    group.addTask {
                        let parameters = targets[stream % targets.count].replacing("\"", with: "%22")
                        try await withConnection(to: server) { connection in
                            try await connection.send(RawConnection.request("GET", "/watch?\(parameters)&heartbeat=1"))
                            // For `a` a heartbeat, which has the number of documents.
                            let isB = stream % targets.count >= 3
                            let end = isB ? #""number":\#(count - 1)}"# : #""count":\#(count),"#
                            let text = try await connection.receive(through: end)
                            Self.check(text, isB: isB, count: count)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A stream tells the number of documents beside resumed streams, which don't know it`() async throws {
        try await withServer { server in
            try await server.set("a/first", [:])
            let token = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                _ = try await connection.receive(through: #""current""#)
                _ = try await connection.receive(through: #""token":""#)
                return String(try await connection.receive(through: #"""#).dropLast())
            }
            try await withThrowingTaskGroup { group in
                let (openings, opened) = AsyncStream<Void>.makeStream()
                for stream in 0..<8 {
                    let isResumed = stream % 2 == 0
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            let parameters = isResumed ? "&resume=\(token)" : ""
                            try await connection.send(
                                RawConnection.request("GET", "/watch?collection=a&heartbeat=1\(parameters)")
                            )
                            _ = try await connection.receive(through: isResumed ? #""checkpoint""# : #""current""#)
                            opened.yield()
                            let text = try await connection.receive(through: #""checkpoint","seq":21,"#)
                            #expect(text.matches(of: /"added"/).count == 20)
                            let rest = try await connection.receive(through: "}")
                            #expect(rest.contains(#""count":21"#) == !isResumed)
                        }
                    }
                }
                _ = await openings.prefix(8).reduce(into: 0) { count, _ in count += 1 }
                for number in 0..<20 { try await server.set("a/d\(number)", [:]) }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `Commits too large for the event loop reach all streams, in order with the small ones`() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                let (openings, opened) = AsyncStream<Void>.makeStream()
                for stream in 0..<8 {
                    let collection = stream % 2 == 0 ? "a" : "b"
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            try await connection.send(RawConnection.request("GET", "/watch?collection=\(collection)"))
                            _ = try await connection.receive(through: #""current""#)
                            opened.yield()
                            let text = try await connection.receive(through: #"\#(collection)/last""#)
                            let paths = text.matches(of: /"path":"[ab]\/([a-z0-9]+)"/).map { String($0.1) }
                            let expected = (0..<5).flatMap { ["large\($0)", "small\($0)"] }
                            #expect(paths == (collection == "a" ? expected : []) + ["last"])
                        }
                    }
                }
                _ = await openings.prefix(8).reduce(into: 0) { count, _ in count += 1 }
                let text = Value.string(String(repeating: "x", count: 50_000))
                for number in 0..<5 {
                    try await server.set("a/large\(number)", ["text": text])
                    try await server.set("a/small\(number)", [:])
                }
                for collection in ["a", "b"] { try await server.set("\(collection)/last", [:]) }
                try await group.waitForAll()
            }
        }
    }

    private static func check(_ text: String, isB: Bool, count: Int) {
        let sequences = text.matches(of: /"type":"(?:added|modified)","seq":(\d+)/).compactMap { Int($0.1) }
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
        guard !isB else { return }
        let documents = text.matches(of: /"a\/d(\d+)"/).compactMap { Int($0.1) }
        #expect(documents.count == count)
        #expect(Set(documents) == Set(0..<count))
    }
}
