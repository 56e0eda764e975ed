import DocumentModel
import DocumentStore
import DocumentStoreConformance
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("A store whose known position lags", .timeLimit(.minutes(10))) struct LaggingStoreTests {
    private let target: PreparedWatchTarget
    private let base = MemoryStore()

    init() throws {
        target = .collection(try CollectionPath("c"))
    }

    @Test
    func `A token that is ahead of the known position is resumed, without a reset`() async throws {
        try base.set("c/a", 1)
        let store = LaggingStore(base)
        try base.set("c/a", 2)
        // The stream that got the token was on a server that knew both commits.
        let token = ResumeToken(target, at: base.position)
        #expect(store.position.lastSequence < token.sequence)

        let request = WatchRequest(target: target, resume: token, onExpired: .fail)
        let session = try await catchingUp(store) { try await WatchSession(request, in: ServiceContext(store: store)) }
        try base.set("c/b", 3)
        let log = try await catchingUp(store) {
            var replica = WatchReplica()
            try await session.follow(into: &replica) { $0.log.last == "added b 3" }
            return replica.log
        }
        #expect(log.filter { $0 != "checkpoint" } == ["open", "added b 3"])
    }

    @Test
    func `A poll with a token that is ahead of the known position is empty`() async throws {
        let store = LaggingStore(base)
        try base.set("c/a", 1)
        let params = PollChanges.Params(
            target: target,
            resume: ResumeToken(target, at: base.position),
            wait: .zero,
            limit: 10,
            contents: .document,
            coalesces: false
        )
        let result = try await catchingUp(store) { try await PollChanges.call(params, in: ServiceContext(store: store)) }
        #expect(result.changes.isEmpty && !result.hasMore)
        #expect(result.token.sequence == base.position.lastSequence)
    }

    @Test
    func `A token is expired only when it is ahead of the last commit`() async throws {
        let store = LaggingStore(base)
        try base.set("c/a", 1)
        let position = base.position
        let token = ResumeToken(target: target, epoch: position.epoch, sequence: position.lastSequence.next, time: .current())
        let request = WatchRequest(target: target, resume: token, onExpired: .fail)
        let error = await #expect(throws: StatusError.self) {
            try await WatchSession(request, in: ServiceContext(store: store))
        }
        #expect(error?.code == .outOfRange)
    }

    @Test
    func `A stream that starts now has no earlier changes`() async throws {
        let store = LaggingStore(base)
        try base.set("c/a", 1)
        let session = try await WatchSession(WatchRequest(target: target, start: .now), in: ServiceContext(store: store))
        var frames = session.makeAsyncIterator()
        var replica = WatchReplica()
        replica.apply(try #require(try await frames.next()))
        try base.set("c/b", 2)
        store.catchUp()
        while replica.log.last != "added b 2", let next = try await frames.next() { replica.apply(next) }
        #expect(replica.log.filter { $0 != "checkpoint" } == ["open", "added b 2"])
    }

    @Test
    func `A stream is not reset when the commits after the known position are no longer retained`() async throws {
        let base = MemoryStore(retainedCount: 1)
        let store = LaggingStore(base)
        for number in 1...5 { try base.set("c/a", Int64(number)) }
        let session = try await WatchSession(WatchRequest(target: target), in: ServiceContext(store: store))
        var replica = WatchReplica()
        try await session.follow(into: &replica, until: \.isCurrent)
        #expect(replica.log == ["open", "added a 5", "current 1"])
    }

    @Test
    func `The token of a first poll is that of the last commit`() async throws {
        let store = LaggingStore(base)
        try base.set("c/a", 1)
        let params = PollChanges.Params(target: target, wait: .zero, limit: 10, contents: .document, coalesces: false)
        let result = try await PollChanges.call(params, in: ServiceContext(store: store))
        #expect(result.token == ResumeToken(target, at: base.position))
    }

    @Test
    func `A read-only transaction accepts the time of an unseen commit from a server whose clock is ahead`() async throws {
        let now = Timestamp.current()
        let base = MemoryStore(earliestTime: try Timestamp(microseconds: now.microseconds + 3_600_000_000))
        let store = LaggingStore(base)
        try base.set("c/a", 1)
        let time = try #require(base.position.lastCommitTime)
        let context = ServiceContext(store: store)
        let transaction = try await BeginTransaction.call(.readOnly(readTime: time), in: context)
        let params = BatchGetDocuments.Params(
            paths: [try DocumentPath("c/a")],
            consistency: ReadConsistency(transaction: transaction)
        )
        #expect(try await BatchGetDocuments.call(params, in: context).documents.count == 1)
        let later = try Timestamp(microseconds: time.microseconds + 1)
        let error = await #expect(throws: StatusError.self) {
            try await BeginTransaction.call(.readOnly(readTime: later), in: context)
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test
    func `A token issued after a restore that this server has not seen yet can be resumed`() async throws {
        try base.set("c/a", 1)
        let store = LaggingStore(base)
        base.changeEpoch()
        let request = WatchRequest(target: target, resume: ResumeToken(target, at: base.position), onExpired: .fail)
        _ = try await WatchSession(request, in: ServiceContext(store: store))
    }

    /// Runs `body`, and lets the store catch up when `body` waits for a commit or has returned.
    private func catchingUp<Result: Sendable>(
        _ store: LaggingStore,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let waiting = Task {
            while !Task.isCancelled, !store.hasWaiters { await Task.yield() }
            store.catchUp()
        }
        defer { waiting.cancel() }
        let result = try await body()
        waiting.cancel()
        await waiting.value
        return result
    }
}
