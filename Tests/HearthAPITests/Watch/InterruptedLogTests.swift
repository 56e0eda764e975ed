import DocumentModel
import DocumentStore
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import HearthAPI

/// The ends of streams when the store cannot follow its log, or finds another one, as that of an engine may. The store of a folder has
/// the same change feed.
@Suite("Streams of a log that is interrupted", .timeLimit(.minutes(10))) struct InterruptedLogTests {
    private static let away = StatusError(.unavailable, "The engine is away.")

    private let folder: TemporaryFolder
    private let target: PreparedWatchTarget

    init() throws {
        folder = try TemporaryFolder()
        target = .collection(try CollectionPath("c"))
    }

    private func withStore(_ body: (FileStore, ChangeFeed) async throws -> Void) async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder["data"]), logger: logger)
        try await set("c/a", 1, in: store)
        try await body(store, store.components.feed)
        await store.close()
    }

    private func set(_ path: String, _ value: Int64, in store: FileStore) async throws {
        _ = try await store.commit([.set(DocumentPath(path), ["v": .integer(value)])])
    }

    @Test
    func `A watch stream ends with the reason of an interruption, and resumes after its token`() async throws {
        try await withStore { store, feed in
            let context = ServiceContext(store: store)
            var replica = WatchReplica()
            var frames = try await WatchSession(WatchRequest(target: target), in: context).makeAsyncIterator()
            while !replica.isCurrent { replica.apply(try #require(try await frames.next())) }
            feed.interrupt(with: Self.away)
            let error = await #expect(throws: StatusError.self) { try await frames.next() }
            #expect(error?.code == .unavailable && error?.message == Self.away.message)
            feed.endInterruption()
            try await set("c/b", 2, in: store)
            replica.resume()
            let request = WatchRequest(target: target, resume: replica.token, onExpired: .fail)
            try await WatchSession(request, in: context).follow(into: &replica) { $0.log.last == "checkpoint" }
            #expect(replica.log == ["open", "added a 1", "current 1", "open", "added b 2", "checkpoint"])
            #expect(replica.violations.isEmpty)
        }
    }

    @Test
    func `A watch stream is reset when the log is another one`() async throws {
        try await withStore { store, feed in
            let context = ServiceContext(store: store)
            var replica = WatchReplica()
            var frames = try await WatchSession(WatchRequest(target: target), in: context).makeAsyncIterator()
            while !replica.isCurrent { replica.apply(try #require(try await frames.next())) }
            feed.restart(after: store.position.lastSequence, time: store.position.lastCommitTime)
            try await set("c/b", 2, in: store)
            replica.apply(try #require(try await frames.next()))
            while !replica.isCurrent { replica.apply(try #require(try await frames.next())) }
            #expect(replica.log.prefix(4) == ["open", "added a 1", "current 1", "reset restored"])
            #expect(replica.documents.count == 2 && replica.violations.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `A listener ends with the reason of an interruption, and is reset when the log is another one`(
        isReplaced: Bool
    ) async throws {
        try await withStore { store, feed in
            let session = ListenSession(in: ServiceContext(store: store))
            _ = try session.add(ListenTarget(id: 1, .documents([DocumentPath("c/a")])))
            while try await !session.next(orUntil: { _ in }).contains(where: { if case .current = $0 { true } else { false } }) {}
            if isReplaced {
                feed.restart(after: store.position.lastSequence, time: store.position.lastCommitTime)
                try await set("c/a", 2, in: store)
                var messages: [ListenMessage] = []
                while messages.isEmpty { messages = try await session.next(orUntil: { _ in }) }
                guard case .reset(1)? = messages.first else { return #expect(Bool(false), "\(messages)") }
            } else {
                feed.interrupt(with: Self.away)
                let error = await #expect(throws: StatusError.self) {
                    while try await session.next(orUntil: { _ in }).isEmpty {}
                }
                #expect(error?.code == .unavailable && error?.message == Self.away.message)
            }
        }
    }
}
