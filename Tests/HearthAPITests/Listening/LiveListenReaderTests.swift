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
        let session = ListenSession(in: ServiceContext(store: store))
        for target in targets {
            _ = try session.add(target)
            var isCurrent = false
            while !isCurrent {
                for case .current in try await session.next(orUntil: { _ in }) { isCurrent = true }
            }
        }
        #expect(session.canWaitLive)
        return session
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
