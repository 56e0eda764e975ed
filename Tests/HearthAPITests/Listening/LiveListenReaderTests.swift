import Concurrency
import DocumentModel
import DocumentStore
import DocumentStoreConformance
import Testing
import UTF8Text

@testable import HearthAPI

/// Commits that are applied to sessions while their tasks wait.
@Suite("Live listen reader", .timeLimit(.minutes(10))) struct LiveListenReaderTests {
    private let store = MemoryStore()

    private func query(_ id: Int32, _ collection: String, limit: Int? = nil) throws -> ListenTarget {
        let query = StructuredQuery(.collection(try CollectionPath(collection)), limit: limit.map { .first($0) })
        let text = "\(collection) \(limit ?? 0)"
        return ListenTarget(id: id, .query(try PreparedWatchQuery(listener: NormalizedQuery(query), text: text.utf8)))
    }

    /// Returns a session whose targets are current.
    private func session(_ targets: ListenTarget...) async throws -> ListenSession {
        try await session(of: targets)
    }

    private func session(of targets: [ListenTarget]) async throws -> ListenSession {
        let session = ListenSession(in: ServiceContext(store: store))
        for target in targets { try await add(target, to: session) }
        #expect(session.canWaitLive)
        return session
    }

    private func add(_ target: ListenTarget, to session: ListenSession) async throws {
        _ = try session.add(target)
        while true {
            for case .current in try await session.next(orUntil: { _ in }) { return }
        }
    }

    private func reader(of session: ListenSession) -> LiveListenReader { LiveListenReader(session, Waiter()) }

    @Test
    func `The messages are those that the task would read`() async throws {
        try store.set("c/a", 1)
        let targets = [try query(2, "c"), ListenTarget(id: 4, .documents([try DocumentPath("c/a"), try DocumentPath("c/b")]))]
        let (live, other) = (try await session(targets[0], targets[1]), try await session(targets[0], targets[1]))
        try store.apply([.delete(DocumentPath("c/a")), .set(DocumentPath("c/b"), ["v": .integer(2)])])
        let messages = try #require(reader(of: live).next())
        let expected = try await other.next(orUntil: { _ in })
        #expect(messages.map { "\($0)" } == expected.map { "\($0)" })
        #expect(messages.count == 3)
        #expect(reader(of: live).next() == nil)
        #expect(live.position.lastSequence == store.position.lastSequence)
    }

    @Test
    func `A commit that affects no target has no messages`() async throws {
        let session = try await session(query(2, "c"), query(4, "c", limit: 1))
        try store.set("d/a", 1)
        try store.set("d/b", 1)
        #expect(reader(of: session).next() == nil)
        #expect(session.position.lastSequence == store.position.lastSequence)
        try store.set("d/c", 1)
        try store.set("c/a", 1)
        #expect(reader(of: session).next() == nil)
        // The state of a limit is compared with the commit by the task.
        #expect(try await session.next(orUntil: { _ in }).count == 2)
    }

    @Test
    func `Commits that require a read or are large are left to the task`() async throws {
        let session = try await session(query(2, "c", limit: 1))
        let sequence = session.position.lastSequence
        try store.set("c/a", 1)
        #expect(reader(of: session).next() == nil)
        #expect(session.position.lastSequence == sequence)
        #expect(try await session.next(orUntil: { _ in }).count == 2)
        try store.apply([.set(DocumentPath("d/a"), ["text": .string(String(repeating: "x", count: 50_000))])])
        #expect(reader(of: session).next() == nil)
        #expect(session.position.lastSequence < store.position.lastSequence)
        #expect(try await session.next(orUntil: { _ in }).isEmpty)
        #expect(session.position.lastSequence == store.position.lastSequence)
    }

    @Test
    func `Commits to many targets are left to the task, unless they are small`() async throws {
        let session = try await session(of: (1...20).map { try query($0, "c") })
        let sequence = session.position.lastSequence
        try store.apply(try (1...32).map { try .set(DocumentPath("c/\($0)"), [:]) })
        #expect(reader(of: session).next() == nil)
        #expect(session.position.lastSequence == sequence)
        #expect(try await session.next(orUntil: { _ in }).count == 33)
        try store.set("c/a", 1)
        #expect(reader(of: session).next()?.count == 2)
    }

    @Test
    func `A session with very many targets is left to its task`() async throws {
        let session = try await session(of: (1...100).map { try query($0, "c") })
        try store.set("c/a", 1)
        #expect(reader(of: session).next()?.count == 2)
        try await add(query(101, "c"), to: session)
        #expect(!session.canWaitLive)
        _ = session.remove(101)
        #expect(session.canWaitLive)
    }

    @Test
    func `Commits that affect no target are applied a few at a time`() async throws {
        let session = try await session(query(2, "c"))
        let start = session.position.lastSequence
        let count = 2 * ListenSession.maximumLiveCommits + 1
        for number in 1...count { try store.set("d/a", Int64(number)) }
        let commits = try #require(await store.commits(after: start).firstBatch())
        let log = CommitSequence(after: start) { position in
            commits.filter { $0.sequence > position }
        } source: { _ in
            nil
        }
        session.commits = log.makeAsyncIterator()
        for expected in [ListenSession.maximumLiveCommits, 2 * ListenSession.maximumLiveCommits, count, count] {
            #expect(reader(of: session).next() == nil)
            #expect(session.position.lastSequence.rawValue == start.rawValue + UInt64(expected))
        }
    }

    @Test
    func `A session advances as one with the same targets has, and continues from there`() async throws {
        let (first, second) = (try await session(query(2, "c")), try await session(query(2, "c")))
        let start = reader(of: first).position
        try store.set("c/a", 1)
        let messages = try #require(reader(of: first).next())
        #expect(reader(of: second).advance(from: start, to: reader(of: first).position, sends: !messages.isEmpty))
        #expect(!reader(of: second).advance(from: start, to: reader(of: first).position, sends: true))
        #expect(second.position == first.position && second.canWaitLive)
        try store.delete("c/a")
        let next = try #require(reader(of: second).next())
        #expect(try await first.next(orUntil: { _ in }).map { "\($0)" } == next.map { "\($0)" })
    }

    @Test
    func `A session does not advance as one with other targets or another position`() async throws {
        let first = try await session(query(2, "c"))
        let others = [
            try await session(query(4, "c")), try await session(query(2, "d")), try await session(query(2, "c", limit: 1)),
            try await session(query(2, "c"), query(4, "c")),
            try await session(ListenTarget(id: 2, .documents([try DocumentPath("c/a")]))),
        ]
        let start = reader(of: first).position
        try store.set("c/a", 1)
        _ = reader(of: first).next()
        let end = reader(of: first).position
        let later = try await session(query(2, "c"))
        for other in others + [later] { #expect(!reader(of: other).advance(from: start, to: end, sends: true)) }
    }

    @Test(arguments: [(64, true), (65, false)])
    func `Targets are compared unless they have many documents`(count: Int, advances: Bool) async throws {
        let target = ListenTarget(id: 2, .documents(try (1...count).map { try DocumentPath("c/\($0)") }))
        let (first, second) = (try await session(target), try await session(target))
        let start = reader(of: first).position
        try store.set("c/1", 1)
        #expect(reader(of: first).next()?.count == 2)
        #expect(reader(of: second).advance(from: start, to: reader(of: first).position, sends: true) == advances)
        if !advances { #expect(reader(of: second).next()?.count == 2) }
    }

    @Test
    func `An interrupted session is left to its task`() async throws {
        let (first, second) = (try await session(query(2, "c")), try await session(query(2, "c")))
        let start = reader(of: first).position
        try store.set("c/a", 1)
        _ = reader(of: first).next()
        second.wakeup.recordRulesChange()
        #expect(!reader(of: second).advance(from: start, to: reader(of: first).position, sends: true))
        #expect(reader(of: second).next() == nil)
        #expect(second.position.lastSequence == start.sequence)
    }

    @Test
    func `The end of the commit log is found by the task`() async throws {
        let session = try await session(query(2, "c"))
        await session.waitLive { _ in
        } _: { reader in
            reader.notify {}
            store.close()
            #expect(reader.next() == nil)
            reader.end(hasProgressed: false)
        }
        let error = await #expect(throws: StatusError.self) { try await session.next(orUntil: { _ in }) }
        #expect(error?.code == .unavailable)
    }
}
