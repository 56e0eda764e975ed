import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// Watchers that read one byte per second.
@Suite("Slow watchers", .tags(.slow), .timeLimit(.minutes(10)))
struct SlowWatcherMemoryTests {
    private static let slowCount = 40
    private static let writeCount = 160
    private static let text = String(repeating: "x", count: 50_000)

    @Test func `Slow watchers use bounded memory and do not affect others`() async throws {
        try await withServer { server in
            let port = try #require(server.address.split(separator: ":").last.flatMap { UInt16($0) })
            // A warm-up, which allocates what the server keeps.
            try await Self.writeAndWatch(0, to: server)
            let before = try Self.residentBytes(of: server)
            let slow = try (0..<Self.slowCount).map { _ in try SlowWatcher("collection=c", port: port) }
            for watcher in slow {
                var opened = watcher.isOpen.makeAsyncIterator()
                try #require(await opened.next() != nil)
            }
            try await Self.writeAndWatch(1, to: server)
            let growth = try Self.residentBytes(of: server) - before
            // 320 MB are pending for all watchers, 8 MB for each.
            #expect(growth < 80 << 20, "\(growth >> 20) MiB")
            withExtendedLifetime(slow) {}
        }
    }

    /// Writes many documents and expects that a watcher receives all of them in order.
    private static func writeAndWatch(_ round: Int, to server: EndToEndServer) async throws {
        let frames = try await server.connection.watch(.collection(CollectionPath("c")))
        let first = Int64(round * writeCount)
        try await withThrowingTaskGroup { group in
            var received: [Int64] = []
            for try await frame in frames {
                if frame.kind == .current {
                    group.addTask { try await writeAll(from: first, to: server.connection) }
                } else if frame.kind == .added || frame.kind == .modified, frame.token != nil,
                    case .integer(let number)? = try frame.document()?.decoded().fields["number"]
                {
                    received.append(number - first)
                    if received.count == writeCount { break }
                }
            }
            #expect(received == Array(0..<Int64(writeCount)))
            try await group.waitForAll()
        }
    }

    private static func writeAll(from first: Int64, to connection: HearthConnection) async throws {
        for number in first..<first + Int64(writeCount) {
            let path = try DocumentPath("c/\(number % 4)")
            try await connection.set(path, ["text": .string(text), "number": .integer(number)])
        }
    }

    private static func residentBytes(of server: EndToEndServer) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(server.process.processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return try #require(line?.split(separator: " ").compactMap { Int($0) }.first) << 10
    }
}
