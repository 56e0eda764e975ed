import Concurrency
import DocumentModel
import DocumentStore
import DocumentStoreConformance
import Synchronization
import Testing

@testable import HearthAPI

/// Sessions on a store with controlled interleaving of requests and commits.
@Suite("Listen session", .timeLimit(.minutes(10))) struct ListenSessionTests {
    private func target(_ id: Int32, _ path: String) throws -> ListenTarget {
        ListenTarget(id: id, .documents([try DocumentPath(path)]))
    }

    /// Takes the next steps until a target is current.
    private func makeCurrent(_ id: Int32, in session: ListenSession) async throws {
        while true {
            for case .current(let current, _) in try await session.next(orUntil: { _ in }) where current == id { return }
        }
    }

    @Test
    func `The targets of all open streams are counted until they are removed or their streams end`() throws {
        let context = ServiceContext(store: MemoryStore())
        let count = { context.server.activity.listenTargetCount }
        do {
            let (first, second) = (ListenSession(in: context), ListenSession(in: context))
            _ = try first.add(try target(2, "c/a"))
            _ = try first.add(try target(4, "c/b"))
            _ = try second.add(try target(2, "c/a"))
            #expect(count() == 3)
            _ = first.remove(4)
            _ = first.remove(4)
            #expect(count() == 2)
            withExtendedLifetime((first, second)) {}
        }
        #expect(count() == 0)
    }

    @Test
    func `The requests for the targets of a stream have a maximum size`() throws {
        let session = ListenSession(in: ServiceContext(store: MemoryStore()))
        let source = try target(2, "c/a").source
        for id in 1...4 as ClosedRange<Int32> {
            guard case .added? = try session.add(ListenTarget(id: id, source, byteCount: 1 << 20)).first else {
                return #expect(Bool(false))
            }
        }
        for id in 5...6 as ClosedRange<Int32> {
            guard case .removed(id, let cause?)? = try session.add(ListenTarget(id: id, source, byteCount: 1)).first else {
                return #expect(Bool(false))
            }
            #expect(cause.code == .resourceExhausted)
        }
        _ = session.remove(1)
        guard case .added? = try session.add(ListenTarget(id: 5, source, byteCount: 1)).first else {
            return #expect(Bool(false))
        }
    }

    /// A request and a commit end the same wait, and the request is processed first: the commit is applied on the way to the state
    /// of the new target.
    @Test
    func `A session that has applied a commit for a request does not wait for another commit`() async throws {
        let store = MemoryStore()
        let session = ListenSession(in: ServiceContext(store: store))
        _ = try session.add(try target(2, "c/a"))
        try await makeCurrent(2, in: session)
        #expect(try await session.next { _ in try? store.set("c/a", 1) }.isEmpty)
        _ = try session.add(try target(4, "c/b"))
        try await makeCurrent(4, in: session)
        // The wait ends when a request arrives.
        #expect(try await session.next { $0.resume() }.isEmpty)
    }

    @Test
    func `A session whose last target was removed does not wait for a commit that its next target shows`() async throws {
        let store = MemoryStore()
        let session = ListenSession(in: ServiceContext(store: store))
        _ = try session.add(try target(2, "c/a"))
        try await makeCurrent(2, in: session)
        #expect(try await session.next { _ in try? store.set("c/a", 1) }.isEmpty)
        #expect(session.remove(2).count == 1)
        _ = try session.add(try target(4, "c/a"))
        try await makeCurrent(4, in: session)
        #expect(try await session.next { $0.resume() }.isEmpty)
    }

    @Test
    func `Heartbeats are sent while the complete state of a target is being read`() async throws {
        let heartbeats = Mutex(0)
        let store = MemoryStore(beforeQuery: {
            while heartbeats.withLock({ $0 < 2 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        })
        try store.set("c/a", 1)
        let session = ListenSession(in: ServiceContext(store: store), heartbeat: .milliseconds(5))
        let query = StructuredQuery(.collection(try CollectionPath("c")), orders: [.init(.field(try FieldPath("v")))])
        let watched = try PreparedWatchQuery(listener: NormalizedQuery(query), text: "c by v".utf8)
        _ = try session.add(ListenTarget(id: 2, .query(watched)))
        var (paths, isCurrent) = ([String](), false)
        while !isCurrent {
            let messages = try await session.next { _ in
            } keepAlive: {
                heartbeats.withLock { $0 += 1 }
            }
            for message in messages {
                if case .changed(let document, _, _) = message { paths.append(document.path.string) }
                if case .current = message { isCurrent = true }
            }
        }
        #expect(paths == ["c/a"] && heartbeats.withLock(\.self) >= 2)
    }

    /// A store whose first read fails with a fault of the server.
    private func faultyStore() -> MemoryStore {
        MemoryStore { _, readCount in
            if readCount == 1 { throw StatusError(.internal, "A secret of the server.") }
        }
    }

    @Test
    func `A fault of the server ends its target alone, if clients are to add it again`() async throws {
        let session = ListenSession(in: ServiceContext(store: faultyStore()), endsTargetsByFaults: true)
        _ = try session.add(try target(2, "c/a"))
        _ = try session.add(try target(4, "c/b"))
        var ended: [StatusCode?] = []
        while session.hasTarget(2) {
            for case .removed(2, let cause) in try await session.next(orUntil: { _ in }) { ended.append(cause?.code) }
        }
        #expect(ended == [.internal])
        try await makeCurrent(4, in: session)
        _ = try session.add(try target(6, "c/a"))
        try await makeCurrent(6, in: session)
    }

    @Test
    func `A fault of the server ends the stream otherwise`() async throws {
        let session = ListenSession(in: ServiceContext(store: faultyStore()))
        _ = try session.add(try target(2, "c/a"))
        let error = await #expect(throws: StatusError.self) {
            while true { _ = try await session.next(orUntil: { _ in }) }
        }
        #expect(error?.code == .internal)
    }
}
