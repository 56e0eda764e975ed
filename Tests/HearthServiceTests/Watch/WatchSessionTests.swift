import DocumentModel
import DocumentStore
import StrictJSON
import Testing

@testable import HearthService

/// Streams on a store whose reads and commits are interleaved step by step.
@Suite(.timeLimit(.minutes(1))) struct WatchSessionTests {
    private let target: WatchTarget

    init() throws {
        target = .collection(try CollectionPath("c"))
    }

    private func session(
        _ store: MemoryStore,
        resume: WatchToken? = nil,
        onExpired: WatchRequest.ExpiredPolicy = .reset,
        heartbeat: Duration = .seconds(60),
        timeout: Duration? = nil
    ) async throws -> WatchSession {
        let request = WatchRequest(target: target, resume: resume, onExpired: onExpired, heartbeat: heartbeat, timeout: timeout)
        return try await WatchSession(request, in: ServiceContext(store: store))
    }

    @Test("The state comes first, then the changes")
    func stateAndChanges() async throws {
        let store = MemoryStore()
        for id in ["a", "b", "c"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        for try await frames in try await session(store) {
            replica.take(frames)
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
        #expect(replica.faults.isEmpty)
    }

    @Test("Commits between reading a page and getting it are told exactly once", arguments: 1...4, [true, false])
    func commitsWhileReading(read: Int, isPublished: Bool) async throws {
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
            // All was read before: there is no fourth read.
            try await check(replica, knows: [1, 1, 1, 1, 1])
        } else {
            try await check(replica, knows: [9, 9, 9, 1, 1])
        }
    }

    @Test("A document visible before its commit is in the log is told once")
    func visibleBeforePublished() async throws {
        let store = MemoryStore { store, count in
            // What is read next is there already and is published by the barrier only.
            if count == 1 {
                try store.apply([.set(DocumentPath("c/z"), ["v": .integer(2)]), .delete(DocumentPath("c/a"))], publishing: false)
            }
        }
        for id in ["a", "b", "c"] { try store.set("c/\(id)", 1) }
        var replica = WatchReplica()
        try await session(store).follow(into: &replica) { $0.isCurrent }
        #expect(replica.log == ["open", "added a 1", "added b 1", "deleted a", "added c 1", "added z 2", "current 3"])
        #expect(replica.faults.isEmpty)
    }

    private func check(_ replica: WatchReplica, knows versions: [Int64]) async throws {
        #expect(replica.faults.isEmpty)
        let known = try replica.documents.values.sorted { $0.path < $1.path }.map { try $0.decoded().fields["v"] }
        #expect(known == versions.map { .integer($0) })
    }

    @Test("Silence is broken by checkpoints, whose place moves with commits that are of no concern")
    func heartbeat() async throws {
        let store = MemoryStore()
        var sequences: [SequenceNumber] = []
        for try await frames in try await session(store, heartbeat: .milliseconds(5)) {
            guard case .checkpoint(let sequence, _, let token)? = frames.first else { continue }
            #expect(token.sequence == sequence)
            sequences.append(sequence)
            if sequences.count == 1 { try store.set("other/x", 1) }
            if sequence == SequenceNumber(1) { break }
        }
        #expect(sequences.first == .zero)
        #expect(sequences.last == SequenceNumber(1))
    }

    @Test("A stream ends when its time is over, and says so")
    func timeout() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        try await session(store, timeout: .milliseconds(20)).follow(into: &replica) { _ in false }
        #expect(replica.log.last == "end timeout")
        #expect(["open", "added a 1", "current 1"].starts(with: replica.log.dropLast()), "however far it came in its time")
    }

    @Test(
        "A stream that waits ends when it is told to, with the reason or silently",
        arguments: [WatchFrame.EndReason.shutdown, nil]
    )
    func ending(reason: WatchFrame.EndReason?) async throws {
        let session = try await session(MemoryStore())
        var replica = WatchReplica()
        for try await frames in session {
            replica.take(frames)
            if replica.isCurrent { session.end(reason) }
        }
        #expect(replica.log == ["open", "current 0"] + (reason.map { ["end \($0)"] } ?? []))
    }

    @Test("Cancelling the task ends the stream without a frame, and frees the store")
    func cancelling() async throws {
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

    @Test("A stream goes on after the token of any frame without gap or repeat")
    func resuming() async throws {
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
        #expect(replica.faults.isEmpty)
        #expect(!replica.log.contains { $0.utf8.starts(with: "reset".utf8) })
        #expect(replica.documents.keys.map(\.id.key.string).sorted() == ["3", "5", "a", "b"])
        #expect(replica.sequence == store.position.lastSequence)
    }

    @Test("A token that can't be resumed from begins anew, and says why")
    func expired() async throws {
        let store = MemoryStore()
        for version in 1...5 as ClosedRange<Int64> { try store.set("c/a", version) }
        func token(_ sequence: UInt64, epoch: String = "epoch") -> WatchToken {
            WatchToken(target: target, epoch: epoch, sequence: SequenceNumber(sequence), time: .minimum)
        }
        store.forget(keeping: 2)
        let refused = [
            (token(2), "expired"), (token(6), "expired"), (token(5, epoch: "old"), "restored"),
            // Commits of these numbers are there, but at other times: they are not those that the tokens were given for.
            (token(5), "restored"), (token(4), "restored"),
        ]
        for (token, reason) in refused {
            var replica = WatchReplica()
            try await session(store, resume: token).follow(into: &replica) { $0.isCurrent }
            #expect(replica.log == ["open", "reset \(reason)", "added a 5", "current 1"])
            await #expect(throws: StatusError.self) { try await session(store, resume: token, onExpired: .fail) }
        }
        var replica = WatchReplica()
        try await session(store, resume: token(3), onExpired: .fail).follow(into: &replica) { $0.log.last == "checkpoint" }
        #expect(replica.log == ["open", "modified a 4", "modified a 5", "checkpoint"])
    }

    @Test("A token of another target is refused")
    func foreignToken() async throws {
        let token = WatchToken(target: .document(try DocumentPath("c/a")), epoch: "epoch", sequence: .zero, time: .minimum)
        let error = await #expect(throws: StatusError.self) { try await session(MemoryStore(), resume: token) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("A reader that falls behind what is kept begins anew")
    func lagging() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        for try await frames in try await session(store) {
            replica.take(frames)
            if replica.log.last == "current 1", replica.log.count == 3 {
                for version in 2...5 as ClosedRange<Int64> { try store.set("c/a", version) }
                store.forget(keeping: 1)
            } else if replica.log.last == "current 1" {
                break
            }
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "reset lagged", "added a 5", "current 1"])
    }

    @Test("One that would rather be told is told that it was too slow, and has no token then")
    func tooSlow() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        var replica = WatchReplica()
        var last: [WatchFrame] = []
        for try await frames in try await session(store, onExpired: .fail) {
            replica.take(frames)
            last = frames
            guard replica.isCurrent else { continue }
            for version in 2...5 as ClosedRange<Int64> { try store.set("c/a", version) }
            store.forget(keeping: 1)
        }
        #expect(replica.log == ["open", "added a 1", "current 1", "end slow"])
        #expect(last.last?.token == nil)
    }

    @Test("What the store can't read ends the stream with its error")
    func failure() async throws {
        let store = MemoryStore { _, _ in throw StatusError(.unavailable, "no disk") }
        var replica = WatchReplica()
        let error = await #expect(throws: StatusError.self) {
            try await session(store).follow(into: &replica) { _ in false }
        }
        #expect(error?.code == .unavailable)
        #expect(replica.log == ["open"])
    }
}
