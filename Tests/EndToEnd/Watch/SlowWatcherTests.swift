import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import Testing

/// What watchers that read a byte a second cost a server, and what they do to others.
@Suite("Slow watchers", .timeLimit(.minutes(5)))
struct SlowWatcherTests {
    private static let slowCount = 40
    private static let writeCount = 160
    private static let text = String(repeating: "x", count: 50_000)

    @Test func `cost no memory for what they have not read, and others are told everything in order`() async throws {
        try await withServer { server in
            let port = try #require(server.address.split(separator: ":").last.flatMap { UInt16($0) })
            // Whatever a server keeps for itself, it has after this.
            try await Self.writeAndFollow(0, to: server)
            let before = try Self.residentBytes(of: server)
            let slow = try (0..<Self.slowCount).map { _ in try DrippingWatcher("collection=c", port: port) }
            for watcher in slow {
                var begun = watcher.isBegun.makeAsyncIterator()
                try #require(await begun.next() != nil)
            }
            try await Self.writeAndFollow(1, to: server)
            let growth = try Self.residentBytes(of: server) - before
            // Each of them has 8 MB to read, which together are 320 MB.
            #expect(growth < 80 << 20, "\(growth >> 20) MiB")
            withExtendedLifetime(slow) {}
        }
    }

    /// Lets a watcher that reads follow many writes, whose documents it must be told one after another.
    private static func writeAndFollow(_ round: Int, to server: TestServer) async throws {
        let frames = try await server.connection.watch(.collection(CollectionPath("c")))
        let first = Int64(round * writeCount)
        try await withThrowingTaskGroup { group in
            var told: [Int64] = []
            for try await frame in frames {
                if frame.kind == .current {
                    group.addTask { try await writeAll(from: first, to: server.connection) }
                } else if frame.kind == .added || frame.kind == .modified, frame.token != nil,
                    case .integer(let number)? = try frame.document()?.decoded().fields["number"]
                {
                    told.append(number - first)
                    if told.count == writeCount { break }
                }
            }
            #expect(told == Array(0..<Int64(writeCount)))
            try await group.waitForAll()
        }
    }

    private static func writeAll(from first: Int64, to connection: HearthConnection) async throws {
        for number in first..<first + Int64(writeCount) {
            let path = try DocumentPath("c/\(number % 4)")
            try await connection.set(path, ["text": .string(text), "number": .integer(number)])
        }
    }

    private static func residentBytes(of server: TestServer) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(server.process.processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return try #require(line?.split(separator: " ").compactMap { Int($0) }.first) << 10
    }
}
