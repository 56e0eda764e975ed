import DocumentModel
import DocumentStore
import DocumentStoreConformance
import JSONRPC
import Synchronization
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("Retries of overloaded reads", .timeLimit(.minutes(10)))
struct WatchRetryTests {
    private let target: PreparedWatchTarget

    init() throws {
        let query = StructuredQuery(
            .collection(try CollectionPath("c")),
            orders: [StructuredQuery.Order(.field(try FieldPath("v")), .ascending)],
            limit: .first(2)
        )
        target = .query(try PreparedWatchQuery(query, canonicalText: "query"))
    }

    private static let overloadError = {
        var error = StatusError(.unavailable, "Too many queries are running.")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// Returns a store that rejects some of its reads, counted from 1.
    private func store(rejecting rejected: ClosedRange<Int>) throws -> MemoryStore {
        let store = MemoryStore { _, count in if rejected.contains(count) { throw Self.overloadError } }
        for version in 1...4 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
        return store
    }

    private func session(
        in store: MemoryStore,
        after token: ResumeToken? = nil,
        timeout: Duration = .seconds(30)
    ) async throws -> WatchSession {
        let retryPolicy = WatchRetryPolicy(timeout: timeout, interval: .milliseconds(1))
        let request = WatchRequest(target: target, resume: token, retryPolicy: retryPolicy)
        return try await WatchSession(request, in: ServiceContext(store: store))
    }

    @Test
    func `Many streams that are resumed simultaneously all get the missed changes`() async throws {
        let store = try store(rejecting: 1...40)
        let token = ResumeToken(target, at: store.position)
        try store.set("c/0", 0)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let session = try await session(in: store, after: token)
                    var changes: [String] = []
                    for try await case .change(let change, _) in session.flattened {
                        changes.append("\(change.kind) \(change.path)")
                        if changes.count == 2 { session.end(nil) }
                    }
                    return changes.sorted()
                }
            }
            for try await changes in group { #expect(changes == ["added c/0", "removed c/2"]) }
        }
    }

    @Test
    func `A change that fails at first is sent once after a retry`() async throws {
        let store = try store(rejecting: 2...4)
        let session = try await session(in: store)
        var changes: [String] = []
        for try await frame in session.flattened {
            switch frame {
            // Finding the replacement requires another query, which is rejected.
            case .current: try store.delete("c/1")
            case .change(let change, .some): changes.append("\(change.kind) \(change.path)")
            default: continue
            }
            if changes.count == 2 { try store.set("c/3", 9) }
            if changes.count == 4 { session.end(nil) }
        }
        #expect(changes.sorted() == ["added c/3", "added c/4", "deleted c/1", "removed c/3"])
    }

    @Test(arguments: [0, 5])
    func `A stream fails with the error after its retry timeout`(milliseconds: Int) async throws {
        let session = try await session(in: store(rejecting: 1 ... .max), timeout: .milliseconds(milliseconds))
        let error = await #expect(throws: StatusError.self) { for try await _ in session {} }
        #expect(error?.message == Self.overloadError.message)
    }

    @Test
    func `A stream can be ended while it waits for a retry`() async throws {
        let session = try await session(in: store(rejecting: 1 ... .max))
        var iterator = session.makeAsyncIterator()
        _ = try await iterator.next()
        session.end(.revoked)
        #expect(try await iterator.next()?.count == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test
    func `Late notifications of earlier commits do not stop heartbeats`() async throws {
        let store = MemoryStore()
        let request = WatchRequest(target: .collection(try CollectionPath("c")), heartbeat: .milliseconds(10))
        let session = try await WatchSession(request, in: ServiceContext(store: store))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await Task.yield()
                    if store.waiterCount > 0 { store.notifyAgain() }
                }
            }
            var count = 0
            for try await case .heartbeat in session.flattened {
                count += 1
                if count == 3 { try store.set("c/d", 1) }
                if count == 10 { break }
            }
            group.cancelAll()
        }
    }

    @Test(
        arguments: [nil, OutgoingWatchFrame.EndReason.shutdown],
        [false, true]
    )
    func `Ending a stream cancels its running query`(reason: OutgoingWatchFrame.EndReason?, isLive: Bool) async throws {
        let (reached, reach) = AsyncStream<Void>.makeStream()
        let remaining = Atomic(isLive ? 1 : 0)
        let store = MemoryStore(beforeQuery: {
            guard remaining.subtract(1, ordering: .relaxed).oldValue <= 0 else { return }
            reach.yield()
            try? await Task.sleep(for: .seconds(3_600))
        })
        for version in 1...3 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
        let session = try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: store))
        let lastFrame = Task {
            var last: OutgoingWatchFrame?
            for try await frames in session {
                last = frames.last
                // Finding the replacement requires another query.
                if case .current? = last { try store.delete("c/1") }
            }
            return last
        }
        for await _ in reached { break }
        session.end(reason)
        switch (try await lastFrame.value, reason) {
        case (.end(let sent, _)?, let reason?): #expect(sent == reason)
        case (.open?, nil): #expect(!isLive)
        case (.current?, nil): #expect(isLive)
        case (let last, _): Issue.record("\(String(describing: last)) came last")
        }
    }
}

extension WatchSession {
    /// The individual frames.
    fileprivate var flattened: AsyncThrowingStream<OutgoingWatchFrame, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await frames in self { for frame in frames { continuation.yield(frame) } }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
