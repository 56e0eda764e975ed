import DocumentModel
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Bulk writer")
struct BulkWriterTests {
    /// A mock server that records commits and fails them as determined by `response`.
    private final class Server: Sendable {
        private let recorded = Mutex<[[Int]]>([])
        private let response: @Sendable ([Int]) -> StatusCode?
        var commits: [[Int]] { recorded.withLock { $0 } }

        init(_ response: @escaping @Sendable ([Int]) -> StatusCode?) {
            self.response = response
        }

        func commit(_ writes: [Write]) throws(StatusError) {
            let numbers = writes.compactMap { Int($0.path.id.key.string.dropFirst()) }
            recorded.withLock { $0.append(numbers) }
            if let code = response(numbers) { throw StatusError(code, "injected by the test") }
        }
    }

    private struct Outcome {
        var written = 0
        var rejected: [Int] = []
        var failureLine: Int?
        var failure: StatusCode?
    }

    /// Writes documents 1 to `count`.
    private func send(_ count: Int, to server: Server) async throws -> Outcome {
        let rejected = Mutex<[Int]>([])
        var outcome = Outcome()
        var writer = BulkWriter { writes throws(StatusError) in
            try server.commit(writes)
        } onRejection: { origin, _ in
            rejected.withLock { $0.append(origin.line) }
        }
        do throws(StatusError) {
            for number in 1...count {
                let origin = ImportOrigin(file: "in", line: number)
                try await writer.write([:], at: DocumentPath("c/d\(number)"), byteCount: 10, from: origin)
            }
            try await writer.flush()
        } catch {
            outcome.failure = error.code
        }
        outcome.written = writer.writtenCount
        outcome.failureLine = writer.firstUnacknowledgedOrigin?.line
        outcome.rejected = rejected.withLock { $0 }
        return outcome
    }

    @Test(arguments: [StatusCode.invalidArgument, .failedPrecondition, .alreadyExists, .notFound, .outOfRange, .dataLoss])
    func `Isolates rejected documents and writes all others`(code: StatusCode) async throws {
        let bad: Set<Int> = [1, 300, 301, 500]
        let server = Server { $0.contains(where: bad.contains) ? code : nil }
        let outcome = try await send(500, to: server)
        #expect(outcome.rejected == bad.sorted())
        #expect(outcome.written == 496)
        #expect(outcome.failure == nil)
        #expect(server.commits.count < 80)
    }

    @Test(arguments: [
        StatusCode.cancelled, .unknown, .deadlineExceeded, .permissionDenied, .resourceExhausted, .aborted, .unimplemented,
        .internal, .unavailable, .unauthenticated,
    ])
    func `Stops at a server error and reports the position`(code: StatusCode) async throws {
        let server = Server { $0.contains(700) ? code : nil }
        let outcome = try await send(2_000, to: server)
        #expect(outcome.failure == code)
        #expect(outcome.written == 500)
        #expect(outcome.failureLine == 501)
        #expect(outcome.rejected == [])
        #expect(server.commits.count == 2)
    }

    @Test func `Stops at a server error while isolating a rejected document`() async throws {
        let server = Server { numbers in
            guard numbers.contains(3) else { return numbers == [5, 6, 7, 8] ? .internal : nil }
            return .invalidArgument
        }
        let outcome = try await send(8, to: server)
        #expect(outcome.failure == .internal)
        #expect(outcome.rejected == [3])
        #expect(outcome.written == 3)
        #expect(outcome.failureLine == 5)
    }
}
