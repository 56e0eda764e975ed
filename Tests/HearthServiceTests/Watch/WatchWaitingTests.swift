import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON
import Synchronization
import Testing

@testable import HearthService

/// Streams that the store has no room for.
@Suite("A stream waits where too many ask for what takes long", .timeLimit(.minutes(1)))
struct WatchWaitingTests {
    private let target: WatchTarget

    init() throws {
        let query = Query(
            .collection(try CollectionPath("c")),
            orders: [Query.Order(.field(try FieldPath("v")), .ascending)],
            limit: .first(2)
        )
        target = .query(try WatchedQuery(query, canonicalText: "query"))
    }

    private static let refusal = {
        var error = StatusError(.unavailable, "12 queries that take long are running.")
        error.retryAfter = .seconds(1)
        return error
    }()

    /// A store that refuses some of its reads, counted from 1.
    private func store(refusing refused: ClosedRange<Int>) throws -> MemoryStore {
        let store = MemoryStore { _, count in if refused.contains(count) { throw Self.refusal } }
        for version in 1...4 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
        return store
    }

    private func session(
        in store: MemoryStore,
        after token: WatchToken? = nil,
        patience: Duration = .seconds(30)
    ) async throws -> WatchSession {
        let patience = WatchPatience(total: patience, pause: .milliseconds(1))
        let request = WatchRequest(target: target, resume: token, patience: patience)
        return try await WatchSession(request, in: ServiceContext(store: store))
    }

    @Test("Many that come back at once are all told what they have missed")
    func comingBack() async throws {
        let store = try store(refusing: 1...40)
        let token = WatchToken(target, at: store.position)
        try store.set("c/0", 0)
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let session = try await session(in: store, after: token)
                    var told: [String] = []
                    for try await case .change(let change, _) in session.flattened {
                        told.append("\(change.kind) \(change.path)")
                        if told.count == 2 { session.end(nil) }
                    }
                    return told.sorted()
                }
            }
            for try await told in group { #expect(told == ["added c/0", "removed c/2"]) }
        }
    }

    @Test("A change that could not be told at first is told afterwards, once")
    func live() async throws {
        let store = try store(refusing: 2...4)
        let session = try await session(in: store)
        var told: [String] = []
        for try await frame in session.flattened {
            switch frame {
            // What comes in for it is only known by another query, which is refused.
            case .current: try store.delete("c/1")
            case .change(let change, .some): told.append("\(change.kind) \(change.path)")
            default: continue
            }
            if told.count == 2 { try store.set("c/3", 9) }
            if told.count == 4 { session.end(nil) }
        }
        #expect(told.sorted() == ["added c/3", "added c/4", "deleted c/1", "removed c/3"])
    }

    @Test("One that has waited long enough, or may not wait, fails with the reason", arguments: [0, 5])
    func vain(milliseconds: Int) async throws {
        let session = try await session(in: store(refusing: 1 ... .max), patience: .milliseconds(milliseconds))
        let error = await #expect(throws: StatusError.self) { for try await _ in session {} }
        #expect(error?.message == Self.refusal.message)
    }

    @Test("One that is to end does so while it waits")
    func end() async throws {
        let session = try await session(in: store(refusing: 1 ... .max))
        var iterator = session.makeAsyncIterator()
        _ = try await iterator.next()
        session.end(.revoked)
        #expect(try await iterator.next()?.count == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test("One that is told late of a commit, when it waits for another one, still gives signs of life")
    func toldLate() async throws {
        let store = MemoryStore()
        let request = WatchRequest(target: .collection(try CollectionPath("c")), heartbeat: .milliseconds(10))
        let session = try await WatchSession(request, in: ServiceContext(store: store))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await Task.yield()
                    if store.waiterCount > 0 { store.tellAgain() }
                }
            }
            var count = 0
            for try await case .checkpoint in session.flattened {
                count += 1
                if count == 3 { try store.set("c/d", 1) }
                if count == 10 { break }
            }
            group.cancelAll()
        }
    }

    @Test(
        "What takes long is not read to its end for a stream that is to end",
        arguments: [nil, WatchFrame.EndReason.shutdown],
        [false, true]
    )
    func leaving(reason: WatchFrame.EndReason?, isLive: Bool) async throws {
        let (reached, reach) = AsyncStream<Void>.makeStream()
        let remaining = Atomic(isLive ? 1 : 0)
        let store = MemoryStore(beforeQuery: {
            guard remaining.subtract(1, ordering: .relaxed).oldValue <= 0 else { return }
            reach.yield()
            try? await Task.sleep(for: .seconds(3_600))
        })
        for version in 1...3 as ClosedRange<Int64> { try store.set("c/\(version)", version) }
        let session = try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: store))
        let told = Task {
            var last: WatchFrame?
            for try await frames in session {
                last = frames.last
                // What comes in for it is found by another query.
                if case .current? = last { try store.delete("c/1") }
            }
            return last
        }
        for await _ in reached { break }
        session.end(reason)
        switch (try await told.value, reason) {
        case (.end(let told, _)?, let reason?): #expect(told == reason)
        case (.open?, nil): #expect(!isLive)
        case (.current?, nil): #expect(isLive)
        case (let last, _): Issue.record("\(String(describing: last)) came last")
        }
    }
}

extension WatchSession {
    /// The frames one by one.
    fileprivate var flattened: AsyncThrowingStream<WatchFrame, any Error> {
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
