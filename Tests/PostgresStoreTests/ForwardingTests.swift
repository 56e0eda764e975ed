import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import PostgresStore

@Suite("Commits that servers forward", EngineServer.condition)
struct ForwardingTests {
    /// Calls `body` with two servers on an empty database, the second of which forwards all its commits to the first.
    private func withForwarding(
        configure: (inout PostgresConfiguration) -> Void = { _ in },
        _ body: (_ holder: PostgresHost, _ sender: PostgresHost, LoopbackForwarding) async throws -> Void
    ) async throws {
        try await EngineServer.shared.value.withForwardingHosts(configure: configure) { holder, sender, forwarding in
            try await sender.store.waitUntilForwarding(to: holder.store)
            try await body(holder, sender, forwarding)
        }
    }

    @Test
    func `A forwarded commit has the result of one that its server makes, and is visible on both`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let first = try await sender.store.increment("c/counter")
            let second = try await sender.store.increment("c/counter")
            #expect(first.sequence == SequenceNumber(1) && second.sequence == SequenceNumber(2))
            #expect(second.writeResults.map(\.transformResults) == [[.integer(2)]])
            #expect(second.writeResults.map(\.updateTime) == [second.commitTime])
            #expect(forwarding.batchCount.load(ordering: .relaxed) == 2 && sender.engineStatus?.forwardedCount == 2)
            for host in [holder, sender] {
                #expect(try await host.store.counter("c/counter") == 2)
                #expect(try await host.store.allCommits().map(\.sequence.rawValue) == [1, 2])
            }
        }
    }

    @Test(arguments: [LoopbackForwarding.Fault.loseBatch, .loseAnswer, .garbleAnswer, .repeatBatch])
    func `Commits whose forwarding fails are made once, with the result of the first time`(
        by fault: LoopbackForwarding.Fault
    ) async throws {
        try await withForwarding { holder, sender, forwarding in
            _ = try await sender.store.increment("c/counter")
            forwarding.prepare([fault])
            let store = sender.store
            let unchanged = try Write.set(DocumentPath("c/same"), ["a": .integer(1)])
            let before = try await store.commit([unchanged], validating: ReadSet(), by: nil, identity: nil)
            forwarding.prepare([fault])
            try await store.waitUntilForwarding(to: holder.store)
            // Three writes, of which one changes nothing, and two change the same document.
            let writes = [
                unchanged, try .adding(5, to: DocumentPath("c/counter")), try .adding(7, to: DocumentPath("c/counter")),
            ]
            let result = try await store.commit(writes, validating: ReadSet(), by: nil, identity: nil)
            #expect(result.sequence == SequenceNumber(3))
            #expect(result.writeResults.map(\.updateTime) == [before.commitTime, result.commitTime, result.commitTime])
            #expect(result.writeResults.map(\.transformResults) == [[], [.integer(6)], [.integer(13)]])
            #expect(try await holder.store.counter("c/counter") == 13)
            #expect(try await holder.store.allCommits().map(\.sequence.rawValue) == [1, 2, 3])
            #expect(try await store.document(at: DocumentPath("c/counter"), readTime: nil)?.updateTime == result.commitTime)
        }
    }

    @Test
    func `A batch that arrives after its server has given it up is not made`() async throws {
        try await withForwarding { holder, sender, forwarding in
            forwarding.prepare([.delayBatch])
            _ = try await sender.store.increment("c/counter")
            #expect(try await forwarding.deliverDelayed() == 1)
            #expect(try await holder.store.counter("c/counter") == 1)
            #expect(try await holder.store.safePosition().lastSequence == SequenceNumber(1))
            #expect(sender.engineStatus?.failedForwardCount == 1)
        }
    }

    @Test
    func `A batch under the term of another lease is not made, and its server makes it`() async throws {
        try await withForwarding { holder, sender, forwarding in
            // Neither of them learns the next term.
            for host in [sender, holder] { await host.engine.leases.close() }
            try await EngineServer.shared.value.execute(
                "UPDATE hearth.leases SET term = term + 1",
                in: holder.configuration
            )
            try await sender.store.increment("c/counter")
            #expect(forwarding.batchCount.load(ordering: .relaxed) == 1)
            #expect(sender.engineStatus?.forwardedCount == 0 && sender.engineStatus?.failedForwardCount == 0)
            #expect(try await holder.store.counter("c/counter") == 1)
        }
    }

    @Test
    func `A refused batch that is delivered again is not made`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let path = try DocumentPath("c/a")
            _ = try await holder.store.commit([.create(path, [:])], validating: ReadSet(), by: nil, identity: nil)
            let error = await #expect(throws: StatusError.self) {
                try await sender.store.commit([.create(path, [:])], validating: ReadSet(), by: nil, identity: nil)
            }
            #expect(error?.code == .alreadyExists && sender.engineStatus?.forwardedCount == 1)
            _ = try await holder.store.commit([.delete(path)], validating: ReadSet(), by: nil, identity: nil)
            // Its commit would be made now. The answer says no more than that it may have been.
            #expect(try await forwarding.deliverAgain() == ForwardedAnswer([.unknown]).encoded)
            #expect(try await holder.store.allCommits().count == 2)
        }
    }

    @Test
    func `A commit that its server has made itself is not made again when its batch is delivered later`() async throws {
        try await withForwarding { holder, sender, forwarding in
            _ = try await sender.store.increment("c/counter")
            forwarding.prepare([.answerNotMade])
            _ = try await sender.store.increment("c/counter")
            #expect(try await forwarding.deliverDelayed() == 1)
            #expect(try await holder.store.counter("c/counter") == 2)
            #expect(try await holder.store.allCommits().count == 2)
        }
    }

    @Test
    func `A batch that was sent long ago is not made, and once accepted, it is not accepted again`() async throws {
        try await withForwarding { holder, _, forwarding in
            let write = try Write.adding(1, to: DocumentPath("c/counter"))
            let request = CommitRequest(writes: [write], reads: ReadSet(), author: nil, identity: nil)
            let (store, leases) = (holder.store, holder.engine.leases)
            let (term, now) = (try #require(leases.term(of: store.database)), try #require(leases.engineTime))
            func answer(sentAt time: Int64) async throws -> ForwardedAnswer? {
                let batch = ForwardedBatch([request], store.database, term: term, after: nil, at: time)
                let bytes = batch.encoded([ForwardedBatch.encoded(request)])
                return ForwardedAnswer(try await holder.commit(forwarded: bytes).get(), count: 1)
            }
            for time in [.min, now - 600_000_000, now + 600_000_000, .max] {
                guard case .otherLease? = try await answer(sentAt: time)?.outcomes.first else {
                    Issue.record("sent at \(time), now \(now)")
                    continue
                }
            }
            guard case .decided(.success)? = try await answer(sentAt: try #require(leases.engineTime))?.outcomes.first else {
                Issue.record("sent now")
                return
            }
            #expect(try await store.counter("c/counter") == 1)
        }
    }

    @Test
    func `A batch of a server that cannot use the tables is not made`() async throws {
        try await withForwarding { holder, _, _ in
            let write = try Write.adding(1, to: DocumentPath("c/counter"))
            let request = CommitRequest(writes: [write], reads: ReadSet(), author: nil, identity: nil)
            let (store, leases) = (holder.store, holder.engine.leases)
            for (version, count) in [(EngineSchema.version - 1, 0), (EngineSchema.version, 1)] {
                let (term, now) = (try #require(leases.term(of: store.database)), try #require(leases.engineTime))
                let batch = ForwardedBatch([request], store.database, term: term, after: nil, at: now)
                let json = String(decoding: batch.encoded([ForwardedBatch.encoded(request)]), as: UTF8.self)
                let sent = json.replacing("\"version\":\(EngineSchema.version)", with: "\"version\":\(version)")
                _ = try await holder.commit(forwarded: Array(sent.utf8)).get()
                #expect(try await store.allCommits().count == count)
            }
        }
    }

    @Test
    func `Without a connection to the server with the lease, the lease keeps its term`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let term = holder.engine.leases.term(of: holder.store.database)
            forwarding.prepare([.refuseConnection, .refuseConnection])
            for _ in 0..<3 { try await sender.store.increment("c/counter") }
            #expect(try await holder.store.counter("c/counter") == 3)
            #expect(sender.engineStatus?.failedForwardCount == 2 && sender.engineStatus?.forwardedCount == 1)
            let stored = try await sender.engine.reads.read { connection throws(StatusError) in
                try connection.execute(EngineStatement("SELECT max(term) FROM hearth.leases")).integer(0, 0)
            }
            #expect(stored == term)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A server that waits for an answer makes the commits that cannot be forwarded meanwhile`() async throws {
        try await withForwarding { holder, sender, forwarding in
            forwarding.prepare([.holdAnswer])
            async let forwarded = sender.store.increment("c/counter")
            while !forwarding.isHolding.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(5)) }
            // One that is too large, and one that another server has forwarded, as two do that each think that the other has the lease.
            let text = Value.string(String(repeating: "x", count: 900_000))
            let writes = try (0..<6).map { try Write.set(DocumentPath("c/\($0)"), ["text": text]) }
            _ = try await sender.store.commit(writes, validating: ReadSet(), by: nil, identity: nil)
            let write = try Write.set(DocumentPath("c/a"), [:])
            let batch = ForwardedBatch(
                [CommitRequest(writes: [write], reads: ReadSet(), author: nil, identity: nil)],
                sender.store.database,
                term: try #require(holder.engine.leases.term(of: holder.store.database)),
                after: nil,
                at: 0
            )
            guard case .decided(.success)? = await sender.store.commitQueue.commit(batch).first else {
                Issue.record("The commit of the other server was not made.")
                return
            }
            forwarding.release()
            _ = try await forwarded
            #expect(try await holder.store.allCommits().count == 3)
        }
    }

    @Test(arguments: [StatusCode.unavailable, .cancelled, .deadlineExceeded, .internal])
    func `Trouble of the server with the lease does not decide a commit`(_ code: StatusCode) {
        guard case .notMade = ForwardedAnswer.Outcome(.failure(StatusError(code, "trouble"))) else {
            Issue.record("decided")
            return
        }
        var unknown = StatusError(code, "trouble")
        unknown.isOutcomeUnknown = true
        guard case .unknown = ForwardedAnswer.Outcome(.failure(unknown)) else {
            Issue.record("known")
            return
        }
    }

    @Test
    func `A server that does not answer is tried again after a pause that grows, unless another one has the lease`() {
        var policy = ForwardingPolicy(isForced: true)
        for _ in 0..<3 { policy.didFail(at: "http://a", pause: .seconds(60)) }
        #expect(!policy.mayForward(to: "http://a") && policy.mayForward(to: "http://b"))
        policy.didAnswer(at: "http://a", pause: .seconds(-1))
        #expect(policy.mayForward(to: "http://a"))
        // Twice 20 ms, and twice that.
        let begin = ContinuousClock.now
        for _ in 0..<3 { policy.didFail(at: "http://a", pause: .milliseconds(20)) }
        while !policy.mayForward(to: "http://a") {}
        #expect(.now - begin >= .milliseconds(80))
        policy.didAnswer(at: "http://a", pause: nil)
        #expect(policy.mayForward(to: "http://a"))
    }

    @Test
    func `A forwarded commit is refused as its server would refuse it`() async throws {
        try await withForwarding { _, sender, _ in
            let store = sender.store
            _ = try await store.commit([.create(DocumentPath("c/a"), [:])], validating: ReadSet(), by: nil, identity: nil)
            let exists = await #expect(throws: StatusError.self) {
                try await store.commit([.create(DocumentPath("c/a"), [:])], validating: ReadSet(), by: nil, identity: nil)
            }
            #expect(exists?.code == .alreadyExists && exists?.path == "c/a" && exists?.writeIndex == 0)
            var reads = ReadSet()
            reads.recordRead(try await store.document(at: DocumentPath("c/a"), readTime: nil), at: try DocumentPath("c/a"))
            reads.recordListing(of: try CollectionPath("c"), after: try await store.safePosition().lastSequence)
            let write = try Write.set(DocumentPath("c/b"), [:])
            _ = try await store.commit([write], validating: reads, by: nil, identity: nil)
            let changed = await #expect(throws: StatusError.self) {
                try await store.commit([write], validating: reads, by: nil, identity: nil)
            }
            #expect(changed?.code == .aborted && changed?.path == "c")
            try await store.setQuota(DatabaseQuota(documentCount: 2, byteCount: nil))
            let full = await #expect(throws: StatusError.self) {
                try await store.commit([.create(DocumentPath("c/c"), [:])], validating: ReadSet(), by: nil, identity: nil)
            }
            #expect(full?.code == .resourceExhausted)
            #expect(sender.engineStatus?.forwardedCount == 5)
        }
    }

    @Test
    func `A commit with an identity is made once, whichever server gets it, and whatever the connection loses`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let client = CommitClientID.random()
            for number in 1...6 as ClosedRange<UInt64> {
                try await sender.store.waitUntilForwarding(to: holder.store)
                forwarding.prepare([[.loseAnswer], [.loseBatch], []][Int(number % 3)])
                let identity = CommitIdentity(client: client, number: number, after: number - 1, fingerprint: number)
                let write = try Write.adding(1, to: DocumentPath("c/counter"))
                var results: [CommitResult] = []
                for host in [sender, holder, sender] {
                    results.append(
                        try await host.store.commit([write], validating: ReadSet(), by: nil, identity: identity)
                    )
                }
                #expect(Set(results.map(\.commitTime)).count == 1 && results.map(\.isReplayed) == [false, true, true])
            }
            #expect(try await holder.store.counter("c/counter") == 6)
        }
    }

    @Test
    func `Commits of both servers under load are each made once, while batches and answers get lost`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let faults = Task {
                while !Task.isCancelled {
                    forwarding.prepare([.loseAnswer, .repeatBatch, .loseBatch, .delayBatch, .garbleAnswer])
                    try? await Task.sleep(for: .milliseconds(50))
                    _ = try await forwarding.deliverDelayed()
                }
            }
            let load = CounterLoad(on: [holder.store, sender.store])
            try await load.run { wait in await wait(1_500) }
            faults.cancel()
            _ = try? await faults.value
            _ = try await load.expectAllCommits(in: holder.store)
            #expect(forwarding.batchCount.load(ordering: .relaxed) > 5)
        }
    }

    @Test
    func `A commit that is too large to be forwarded is made by its server`() async throws {
        try await withForwarding { holder, sender, forwarding in
            let text = Value.string(String(repeating: "x", count: 900_000))
            let writes = try (0..<6).map { try Write.set(DocumentPath("c/\($0)"), ["text": text]) }
            _ = try await sender.store.commit(writes, validating: ReadSet(), by: nil, identity: nil)
            #expect(forwarding.batchCount.load(ordering: .relaxed) == 0)
            #expect(try await holder.store.size(of: nil).documentCount == 6)
        }
    }

    @Test(arguments: [
        "", "{}", "[1]", #"{"format":5}"#, #"{"format":5,"version":5,"database":1,"term":1,"sent":1,"token":"AA","commits":[]}"#,
        #"{"format":5,"version":5,"database":1,"term":1,"sent":1,"token":"AAAAAAAAAAAAAAAAAAAAAA","commits":[{"writes":[{}]}]}"#,
    ])
    func `A body that is no batch is refused`(_ body: String) async throws {
        try await EngineServer.shared.value.withHosts { hosts in
            let error = await #expect(throws: StatusError.self) { try await hosts[0].commit(forwarded: Array(body.utf8)).get() }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test
    func `A batch keeps all that a commit depends on`() throws {
        var reads = ReadSet()
        reads.recordRead(nil, at: try DocumentPath("a/b"))
        reads.recordListing(of: try CollectionPath("a"), after: SequenceNumber(7))
        reads.recordQuery(of: .collectionGroup(try CollectionID("g"), below: nil), after: SequenceNumber(8))
        reads.recordQuery(of: .descendants(of: nil), after: SequenceNumber(9))
        let identity = CommitIdentity(client: .random(), number: 5, after: 3, fingerprint: .max)
        let request = CommitRequest(
            writes: [
                try .set(DocumentPath("a/b"), ["a": .double(.nan), "b": .bytes([1])], merge: .all),
                try .delete(DocumentPath("a/c"), precondition: .exists(true)),
            ],
            reads: reads,
            author: CommitAuthor(keyID: "key"),
            identity: identity
        )
        let anchor = LogAnchor(SequenceNumber(3), at: try Timestamp(microseconds: 5))
        let batch = ForwardedBatch([request, request], 12, term: 4, after: anchor, at: 6)
        let decoded = try ForwardedBatch(batch.encoded([ForwardedBatch.encoded(request), ForwardedBatch.encoded(request)]))
        #expect(decoded.database == 12 && decoded.term == 4 && decoded.anchor == anchor && decoded.token == batch.token)
        #expect(decoded.sentTime == 6)
        #expect(decoded.token(of: 0) != decoded.token(of: 1))
        for known in decoded.requests {
            #expect(known.writes == request.writes && known.identity == identity && known.author?.keyID == "key")
            #expect(known.reads.documents == reads.documents && known.reads.scopes == reads.scopes)
        }
    }
}
