import DocumentModel
import DocumentStore
import DocumentStoreConformance
import FileStore
import Foundation
import Logging
import Testing
import UTF8Text

@testable import HearthAPI

/// Streams and tokens at the limit of retention.
@Suite("Watching and retention", .timeLimit(.minutes(10))) struct WatchRetentionTests {
    private let target: PreparedWatchTarget

    init() throws {
        target = .collection(try CollectionPath("c"))
    }

    @Test
    func `A stream can be resumed before the oldest retained commit; before older ones, it is reset`() async throws {
        try await Self.withSmallLog { store in
            // The frame of each commit, by its sequence number.
            var frames = [""]
            var position = store.position
            var replica = WatchReplica()
            // A checkpoint may still remove a segment.
            repeat {
                while store.position.oldestRetained <= SequenceNumber(20)
                    || !frames[Int(store.position.oldestRetained.rawValue)].utf8.starts(with: "deleted".utf8)
                {
                    try await Self.set("c/a", in: store)
                    // As large as the other commits: a segment starts with the commit that did not fit into the previous one.
                    _ = try await store.commit([.delete(DocumentPath("c/a")), Self.write("other/x", in: store)])
                    frames += ["added a ?", "deleted a"]
                    // Varies the commit at the limit of retention.
                    guard frames.count.isMultiple(of: 3) else { continue }
                    try await Self.set("c/b\(frames.count)", in: store)
                    frames.append("added b\(frames.count) ?")
                }
                position = store.position
                replica = WatchReplica()
                let resume = token(position.oldestRetained.rawValue - 1, position)
                let session = try? await WatchSession(
                    WatchRequest(target: target, resume: resume, onExpired: .fail),
                    in: ServiceContext(store: store)
                )
                try await session?.follow(into: &replica) { $0.log.last == "checkpoint" }
            } while store.position.oldestRetained != position.oldestRetained
            #expect(replica.log == ["open"] + frames[Int(position.oldestRetained.rawValue)...] + ["checkpoint"])

            var older = WatchReplica()
            let request = WatchRequest(target: target, resume: token(position.oldestRetained.rawValue - 2, position))
            try await WatchSession(request, in: ServiceContext(store: store)).follow(into: &older) { $0.isCurrent }
            #expect(older.log.prefix(2) == ["open", "reset expired"])
            #expect(older.violations.isEmpty)
            let strict = WatchRequest(
                target: target,
                resume: token(position.oldestRetained.rawValue - 2, position),
                onExpired: .fail
            )
            let error = await #expect(throws: StatusError.self) {
                try await WatchSession(strict, in: ServiceContext(store: store))
            }
            #expect(error?.code == .outOfRange)
        }
    }

    @Test
    func `A quiet stream gets a new token before the previous one expires, even without heartbeats`() async throws {
        let store = MemoryStore()
        try store.set("c/a", 1)
        let session = try await WatchSession(
            WatchRequest(target: target, heartbeat: .seconds(60)),
            in: ServiceContext(store: store)
        )
        var replica = WatchReplica()
        for try await frames in session {
            replica.apply(frames)
            guard replica.isCurrent else { continue }
            let token = try #require(replica.token)
            if token.sequence > SequenceNumber(300) { break }
            // The next checkpoint follows after half of the retained commits, before the token expires.
            for version in 2...22 as ClosedRange<Int64> { try store.set("other/x", version) }
            store.discardHistory(keeping: 40)
            #expect(store.position.canResume(after: token.sequence))
        }
        #expect(replica.violations.isEmpty)
        #expect(replica.log.count { $0 == "checkpoint" } > 10)
    }

    private func token(_ sequence: UInt64, _ position: StorePosition) -> ResumeToken {
        ResumeToken(target: target, epoch: position.epoch, sequence: SequenceNumber(sequence), time: .minimum)
    }

    private static func set(_ path: String, in store: FileStore) async throws {
        _ = try await store.commit([write(path, in: store)])
    }

    /// Returns a write with different fields each time, so that it is a change.
    private static func write(_ path: String, in store: FileStore) throws -> Write {
        let text = Value.string(String(repeating: "x", count: 300))
        let number = Value.integer(Int64(store.position.lastSequence.rawValue))
        return try .set(DocumentPath(path), ["text": text, "number": number])
    }

    /// Runs `body` with a store that retains a few dozen commits.
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
