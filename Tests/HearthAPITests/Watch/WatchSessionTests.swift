import DocumentModel
import DocumentStore
import DocumentStoreConformance
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

/// Streams on a store with controlled interleaving of reads and commits.
@Suite("Watch session", .timeLimit(.minutes(10))) struct WatchSessionTests {
    private let target: PreparedWatchTarget

    init() throws {
        target = .collection(try CollectionPath("c"))
    }

    private func session(
        _ store: MemoryStore,
        resume: ResumeToken? = nil,
        onExpired: WatchRequest.ExpiredPolicy = .reset,
        heartbeat: Duration = .seconds(60),
        timeout: Duration? = nil
    ) async throws -> WatchSession {
        let request = WatchRequest(target: target, resume: resume, onExpired: onExpired, heartbeat: heartbeat, timeout: timeout)
        return try await WatchSession(request, in: ServiceContext(store: store))
    }

    @Test
    func `The initial state is followed by the changes`() async throws {
        let store = MemoryStore()
        for id in ["a", "b", "c"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        for try await frames in try await session(store) {
            replica.apply(frames)
            switch replica.log.last {
            case "current 3": try store.set("c/b", 2)
            case "modified b 2": try store.delete("c/a")
            case "deleted a":
                try store.apply([.set(DocumentPath("c/x"), ["v": .integer(3)]), .set(DocumentPath("c/y"), ["v": .integer(3)])])
            case "added y 3": store.close()
            default: break
            }
        }
        #expect(
            replica.log == [
                "open", "added a 1", "added b 1", "added c 1", "current 3", "modified b 2", "deleted a", "added x 3", "added y 3",
                "end shutdown",
            ]
        )
        #expect(replica.violations.isEmpty)
    }

    @Test(arguments: 1...4, [true, false])
    func `Commits between the read of a page and its delivery are sent once`(read: Int, isPublished: Bool) async throws {
        let store = MemoryStore { store, count in
            guard count == read else { return }
            try store.apply(
                [
                    .set(DocumentPath("c/a"), ["v": .integer(9)]), .delete(DocumentPath("c/b")),
                    .set(DocumentPath("c/c"), ["v": .integer(9)]), .set(DocumentPath("c/aa"), ["v": .integer(9)]),
                ],
                publishing: isPublished
            )
        }
        for id in ["a", "b", "c", "d", "e"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        try await session(store).follow(into: &replica) { $0.isCurrent }
        if read == 4 {
            // The initial state takes three reads.
            try await check(replica, knows: [1, 1, 1, 1, 1])
        } else {
            try await check(replica, knows: [9, 9, 9, 1, 1])
        }
    }

    @Test
    func `A document that is visible before its commit is published is sent once`() async throws {
        let store = MemoryStore { store, count in
            // The next read includes these writes, which are published only by the barrier.
            if count == 1 {
                try store.apply([.set(DocumentPath("c/z"), ["v": .integer(2)]), .delete(DocumentPath("c/a"))], publishing: false)
            }
        }
        for id in ["a", "b", "c"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        try await session(store).follow(into: &replica) { $0.isCurrent }
        #expect(replica.log == ["open", "added a 1", "added b 1", "deleted a", "added c 1", "added z 2", "current 3"])
        #expect(replica.violations.isEmpty)
    }

    private func check(_ replica: WatchReplica, knows versions: [Int64]) async throws {
        #expect(replica.violations.isEmpty)
        let known = try replica.documents.values.sorted { $0.path < $1.path }.map { try $0.decoded().fields["v"] }
        #expect(known == versions.map { .integer($0) })
    }

    @Test
    func `Heartbeats are sent as checkpoints and advance with unrelated commits`() async throws {
        let store = MemoryStore()
        var sequences: [SequenceNumber] = []
        for try await frames in try await session(store, heartbeat: .milliseconds(5)) {
            guard case .heartbeat(let sequence, _, let token)? = frames.first else { continue }
            #expect(token.sequence == sequence)
            sequences.append(sequence)
            if sequences.count == 1 { try store.set("other/x", 1) }
            if sequence == SequenceNumber(1) { break }
        }
        #expect(sequences.first == .zero)
        #expect(sequences.last == SequenceNumber(1))
    }

    @Test
    func `A stream ends with an end frame after its timeout`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        try await session(store, timeout: .milliseconds(20)).follow(into: &replica) { _ in false }
        #expect(replica.log.last == "end timeout")
        #expect(["open", "added a 1", "current 1"].starts(with: replica.log.dropLast()), "however far it got before the timeout")
    }

    @Test(
        arguments: [OutgoingWatchFrame.EndReason.shutdown, nil]
    )
    func `A waiting stream can be ended, with or without an end frame`(reason: OutgoingWatchFrame.EndReason?) async throws {
        let session = try await session(MemoryStore())
        var replica = WatchReplica()
        for try await frames in session {
            replica.apply(frames)
            if replica.isCurrent { session.end(reason) }
        }
        #expect(replica.log == ["open", "current 0"] + (reason.map { ["end \($0)"] } ?? []))
    }

    @Test
    func `Cancelling the task ends the stream without a frame and cancels its notification`() async throws {
        let store = MemoryStore()
        let session = try await session(store)
        let task = Task {
            var replica = WatchReplica()
            try await session.follow(into: &replica) { _ in false }
            return replica.log
        }
        while store.waiterCount == 0 { await Task.yield() }
        task.cancel()
        #expect(try await task.value == ["open", "current 0"])
        #expect(store.waiterCount == 0)
    }

    @Test
    func `A stream is resumed after the token of any frame without gaps or duplicates`() async throws {
        let store = MemoryStore()
        for id in ["a", "b"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        try await session(store).follow(into: &replica) { $0.isCurrent }
        for round in 2...6 as ClosedRange<Int64> {
            try store.apply([
                .set(DocumentPath("c/a"), ["v": .integer(round)]), .set(DocumentPath("c/\(round)"), ["v": .integer(round)]),
            ])
            try store.set("other/x", round)
            if round.isMultiple(of: 2) { try store.delete("c/\(round)") }
            replica.resume()
            try await session(store, resume: replica.token).follow(into: &replica) { $0.log.last == "checkpoint" }
        }
        #expect(replica.violations.isEmpty)
        #expect(!replica.log.contains { $0.utf8.starts(with: "reset".utf8) })
        #expect(replica.documents.keys.map(\.id.key.string).sorted() == ["3", "5", "a", "b"])
        #expect(replica.sequence == store.position.lastSequence)
    }

    @Test
    func `An expired token resets the stream with a reason`() async throws {
        let store = MemoryStore()
        for version in 1...5 as ClosedRange<Int64> { try store.set("c/a", version) }
        func token(_ sequence: UInt64, epoch: String = "epoch") -> ResumeToken {
            ResumeToken(target: target, epoch: epoch, sequence: SequenceNumber(sequence), time: .minimum)
        }
        store.discardHistory(keeping: 2)
        let rejected = [
            (token(2), "expired"), (token(6), "restored"), (token(5, epoch: "old"), "restored"),
            // Commits with these numbers exist, but their times differ from those of the tokens.
            (token(5), "restored"), (token(4), "restored"),
        ]
        for (token, reason) in rejected {
            var replica = WatchReplica()
            try await session(store, resume: token).follow(into: &replica) { $0.isCurrent }
            #expect(replica.log == ["open", "reset \(reason)", "added a 5", "current 1"])
            await #expect(throws: StatusError.self) { try await session(store, resume: token, onExpired: .fail) }
        }
        var replica = WatchReplica()
        try await session(store, resume: token(3), onExpired: .fail).follow(into: &replica) { $0.log.last == "checkpoint" }
        #expect(replica.log == ["open", "modified a 4", "modified a 5", "checkpoint"])
    }

    @Test
    func `A token of another target is rejected`() async throws {
        let token = ResumeToken(target: .document(try DocumentPath("c/a")), epoch: "epoch", sequence: .zero, time: .minimum)
        let error = await #expect(throws: StatusError.self) { try await session(MemoryStore(), resume: token) }
        #expect(error?.code == .invalidArgument)
    }

    @Test
    func `A stream that falls behind the retained commits is reset`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        for try await frames in try await session(store) {
            replica.apply(frames)
            if replica.log.last == "current 1", replica.log.count == 3 {
                for version in 2...5 as ClosedRange<Int64> { try store.set("c/a", version) }
                store.discardHistory(keeping: 1)
            } else if replica.log.last == "current 1" {
                break
            }
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "reset lagged", "added a 5", "current 1"])
    }

    @Test
    func `A stream that must not be reset ends as slow, without a token`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        var last: [OutgoingWatchFrame] = []
        for try await frames in try await session(store, onExpired: .fail) {
            replica.apply(frames)
            last = frames
            guard replica.isCurrent else { continue }
            for version in 2...5 as ClosedRange<Int64> { try store.set("c/a", version) }
            store.discardHistory(keeping: 1)
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "end slow"])
        #expect(last.last?.token == nil)
    }

    @Test
    func `A read error ends the stream`() async throws {
        let store = MemoryStore { _, _ in throw StatusError(.unavailable, "no disk") }
        var replica = WatchReplica()
        let error = await #expect(throws: StatusError.self) {
            try await session(store).follow(into: &replica) { _ in false }
        }
        #expect(error?.code == .unavailable)
        #expect(replica.log == ["open"])
    }
}
