import Concurrency
import DocumentModel
import DocumentStore
import DocumentStoreConformance
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
}
