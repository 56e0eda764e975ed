import DocumentModel
import DocumentStore
import Foundation
import Logging
import StrictJSON
import Testing

@testable import HearthService

/// Streams and tokens at the edge of the log that is kept, on the real store.
@Suite(.timeLimit(.minutes(1))) struct WatchRetentionTests {
    private let target: WatchTarget

    init() throws {
        target = .collection(try CollectionPath("c"))
    }

    @Test("A delete in the oldest commit that is kept is told; one older, and the stream begins anew")
    func deleteAtFloor() async throws {
        try await Self.withSmallLog { store in
            // What each commit is told as, by its number.
            var told = [""]
            while store.position.oldestKept <= SequenceNumber(20)
                || !told[Int(store.position.oldestKept.rawValue)].utf8.starts(with: "deleted".utf8)
            {
                try await Self.set("c/a", in: store)
                // As large as the others: what begins a segment is what did not fit into the one before.
                _ = try await store.commit([.delete(DocumentPath("c/a")), Self.write("other/x", in: store)])
                told += ["added a ?", "deleted a"]
                // So that the floor is not at a write each time.
                guard told.count.isMultiple(of: 3) else { continue }
                try await Self.set("c/b\(told.count)", in: store)
                told.append("added b\(told.count) ?")
            }
            let position = store.position
            var replica = WatchReplica()
            try await WatchSession(
                WatchRequest(target: target, resume: token(position.oldestKept.rawValue - 1, position), onExpired: .fail),
                in: ServiceContext(store: store)
            )
            .follow(into: &replica) { $0.log.last == "checkpoint" }
            #expect(replica.log == ["open"] + told[Int(position.oldestKept.rawValue)...] + ["checkpoint"])

            var older = WatchReplica()
            let request = WatchRequest(target: target, resume: token(position.oldestKept.rawValue - 2, position))
            try await WatchSession(request, in: ServiceContext(store: store)).follow(into: &older) { $0.isCurrent }
            #expect(older.log.prefix(2) == ["open", "reset expired"])
            #expect(older.faults.isEmpty)
            let strict = WatchRequest(target: target, resume: token(position.oldestKept.rawValue - 2, position), onExpired: .fail)
            let error = await #expect(throws: StatusError.self) {
                try await WatchSession(strict, in: ServiceContext(store: store))
            }
            #expect(error?.code == .outOfRange)
        }
    }

    @Test("A stream that nothing concerns has a token that is good, however fast the log is cut, without a heartbeat")
    func bookmarks() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        let session = try await WatchSession(
            WatchRequest(target: target, heartbeat: .seconds(60)),
            in: ServiceContext(store: store)
        )
        var replica = WatchReplica()
        for try await frames in session {
            replica.take(frames)
            guard replica.isCurrent else { continue }
            let token = try #require(replica.token)
            if token.sequence > SequenceNumber(300) { break }
            // The next frame comes when half of what is kept has passed, before the token is lost.
            for version in 2...22 as ClosedRange<Int64> { try store.set("other/x", version) }
            store.forget(keeping: 40)
            #expect(store.position.canResume(after: token.sequence))
        }
        #expect(replica.faults.isEmpty)
        #expect(replica.log.count { $0 == "checkpoint" } > 10)
    }

    private func token(_ sequence: UInt64, _ position: StorePosition) -> WatchToken {
        WatchToken(target: target, epoch: position.epoch, sequence: SequenceNumber(sequence), time: .minimum)
    }

    private static func set(_ path: String, in store: FileStore) async throws {
        _ = try await store.commit([write(path, in: store)])
    }

    /// A write that changes something, as one of the same fields would not.
    private static func write(_ path: String, in store: FileStore) throws -> Write {
        let text = Value.string(String(repeating: "x", count: 300))
        let number = Value.integer(Int64(store.position.lastSequence.rawValue))
        return try .set(DocumentPath(path), ["text": text, "number": number])
    }

    /// Runs `body` with a store that keeps some dozens of commits.
    private static func withSmallLog(_ body: (FileStore) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = FileStoreConfiguration(folder: folder)
        configuration.segmentBytes = 8 << 10
        configuration.retentionBytes = 64 << 10
        configuration.checkpointBytes = 16 << 10
        let store = try await FileStore.open(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await body(store)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}
