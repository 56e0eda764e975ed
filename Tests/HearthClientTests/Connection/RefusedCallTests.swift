import DocumentModel
import Foundation
import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Calls that a server refuses for a time", .timeLimit(.minutes(10)))
struct RefusedCallTests {
    /// The refusal of a call before it was executed.
    private static func refusal(_ status: Int, _ code: StatusCode, retryAfterMilliseconds delay: Int = 500) -> StubServer.Response
    {
        let data = #"{"status":"\#(code.name)","retryAfterMilliseconds":\#(delay),"executed":false}"#
        return .json(status: status, #"{"error":{"code":\#(code.rawValue),"message":"Wait.","data":\#(data)}}"#)
    }

    /// The times of requests.
    private final class Times: Sendable {
        private let times = Mutex<[ContinuousClock.Instant]>([])

        /// Records a request, and returns the number of those before.
        func record() -> Int {
            times.withLock { times in
                times.append(.now)
                return times.count - 1
            }
        }

        /// The times between requests.
        var intervals: [Duration] { times.withLock { times in zip(times.dropFirst(), times).map { $0 - $1 } } }
    }

    @Test(arguments: [(429, StatusCode.resourceExhausted), (503, .unavailable)])
    func `A listener waits as long as the server asks for`(_ status: Int, _ code: StatusCode) async throws {
        let times = Times()
        let server = try StubServer { _ in
            guard times.record() > 2 else { return Self.refusal(status, code) }
            return .stream { stream in
                for frame in [StreamFrames.open] + StreamFrames.missing("a/b") { stream.send(frame) }
                stream.waitUntilClosed()
            }
        }
        let db = server.firestore(nil)
        let (events, event) = AsyncStream.makeStream(of: Bool?.self)
        let registration = db.document("a/b").addSnapshotListener { snapshot, _ in event.yield(snapshot?.exists) }
        #expect(await events.first { _ in true } == false)
        #expect(times.intervals.count == 3 && times.intervals.allSatisfy { $0 >= .milliseconds(500) })
        registration.remove()
        try await db.terminate()
    }

    @Test func `A transaction that was refused is run again after the delay`() async throws {
        let times = Times()
        let server = try StubServer { request in
            guard request.body.contains("documents.commit") else { return .documents(for: request) }
            return times.record() < 2 ? Self.refusal(429, .resourceExhausted) : .committed
        }
        let db = server.firestore(nil)
        let runCount = Mutex(0)
        _ = try await db.runTransaction { transaction, _ in
            runCount.withLock { $0 += 1 }
            transaction.setData(["n": 1], forDocument: db.document("a/b"))
            return nil
        }
        #expect(runCount.withLock(\.self) == 3)
        #expect(times.intervals.count == 2 && times.intervals.allSatisfy { $0 >= .milliseconds(500) })
        try await db.terminate()
    }

    /// A response to a commit after which a transaction is not run again.
    enum LastResponse: CaseIterable, Sendable {
        /// It was executed.
        case droppedResult
        /// It may have been executed, behind a proxy that has lost its server.
        case ofProxy
        /// It may have been executed, before a proxy answered with a page.
        case page
        /// The caller would wait for half an hour.
        case longDelay

        fileprivate var response: StubServer.Response {
            switch self {
            case .droppedResult:
                .json(
                    status: 200,
                    #"{"jsonrpc":"2.0","id":0,"error":{"code":8,"message":"The call was executed, but its result was dropped","#
                        + #""data":{"status":"RESOURCE_EXHAUSTED","retryAfterMilliseconds":1000,"executed":true}}}"#
                )
            case .ofProxy: .unavailable(retryAfter: "1")
            case .page: .json(status: 200, "<h1>Sorry</h1>")
            case .longDelay: RefusedCallTests.refusal(429, .resourceExhausted, retryAfterMilliseconds: 1_800_000)
            }
        }
    }

    @Test(arguments: LastResponse.allCases)
    func `A transaction that may have been executed, or would wait for long, is not run again`(_ last: LastResponse) async throws
    {
        let server = try StubServer { request in
            guard request.body.contains("documents.commit") else { return .documents(for: request) }
            return last.response
        }
        let db = server.firestore(nil)
        let runCount = Mutex(0)
        await #expect(throws: (any Error).self) {
            _ = try await db.runTransaction { transaction, _ in
                runCount.withLock { $0 += 1 }
                transaction.setData(["n": 1], forDocument: db.document("a/b"))
                return nil
            }
        }
        #expect(runCount.withLock(\.self) == 1)
        try await db.terminate()
    }

    @Test(arguments: ["7", nil, "", "-1", "soon", "99999999999", "Fri, 27 Nov 2026 12:00:00 GMT"])
    func `The delay of a proxy is understood, too`(_ retryAfter: String?) async throws {
        let server = try StubServer { _ in .unavailable(retryAfter: retryAfter) }
        let db = server.firestore(nil)
        let error = await #expect(throws: FirestoreError.self) { _ = try await db.document("a/b").getDocument() }
        #expect(error?.status.code == .unavailable)
        #expect(error?.status.retryAfter == (retryAfter == "7" ? .seconds(7) : nil))
        try await db.terminate()
    }
}
