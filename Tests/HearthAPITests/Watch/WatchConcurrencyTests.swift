import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthAPI

/// Streams on the file store, started during concurrent writes.
@Suite("Watching during writes", .tags(.slow), .timeLimit(.minutes(10))) struct WatchConcurrencyTests {
    @Test(
        arguments: [WatchRequest.Contents.document, .before],
        [(false, nil), (true, nil), (false, 0), (true, 0), (true, 3_000)]
    )
    func `Streams that start during writes converge to the state of the store without duplicates`(
        contents: WatchRequest.Contents,
        _ reading: (coalesces: Bool, recentBytes: Int?)
    ) async throws {
        let seed = SeededGenerator.currentSeed
        let end = End()
        try await withService(recentBytes: reading.recentBytes) { service in
            try await withThrowingTaskGroup { group in
                for target in try Self.targets + Self.targets {
                    let request = WatchRequest(
                        target: target,
                        contents: contents,
                        coalesces: reading.coalesces,
                        heartbeat: .milliseconds(20)
                    )
                    group.addTask { try await Self.watch(request, until: end, in: service.context, seed: seed) }
                }
                group.addTask {
                    try await Self.writeAll(seed, in: service.context)
                    end.sequence.withLock { $0 = service.context.store.position.lastSequence }
                }
                try await group.waitForAll()
            }
        }
    }

    /// The last sequence number, once the writers have finished.
    private final class End: Sendable {
        let sequence = Mutex<SequenceNumber?>(nil)
    }

    private static var targets: [PreparedWatchTarget] {
        get throws {
            let collection = StructuredQuery.Source.collection(try CollectionPath("c"))
            let v = try FieldPath("v")
            let byV = StructuredQuery.Order(.field(v), .ascending)
            let queries = [
                StructuredQuery(.collectionGroup(try CollectionID("c"), below: nil)),
                StructuredQuery(collection, where: .field(v, .greaterOrEqual(.integer(30)))),
                StructuredQuery(collection, where: .field(v, .notEqual(.integer(7)))),
                StructuredQuery(collection, orders: [byV]),
                StructuredQuery(collection, orders: [byV], limit: .first(4)),
                StructuredQuery(collection, orders: [byV], limit: .last(3)),
                StructuredQuery(collection, where: .field(v, .less(.integer(40))), offset: 2, limit: .first(5)),
            ]
            return try [.document(DocumentPath("c/7")), .collection(CollectionPath("c"))]
                + queries.map { .query(try PreparedWatchQuery($0, canonicalText: UTF8Key("\($0)"))) }
        }
    }

    /// Runs several concurrent writers of random documents.
    private static func writeAll(_ seed: UInt64, in context: ServiceContext) async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<3 {
                group.addTask { try await write(seed &+ UInt64(writer), rounds: 60, in: context) }
            }
            try await group.waitForAll()
        }
    }

    /// Commits random writes, one to three documents at a time.
    private static func write(_ seed: UInt64, rounds: Int, in context: ServiceContext) async throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            let writes = try (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                let path = try DocumentPath("c/\(Int.random(in: 0..<20, using: &generator))")
                return Bool.random(using: &generator) ? Write.delete(path) : try .set(path, ["v": .integer(Int64(round))])
            }
            _ = try await context.store.commit(writes)
        }
    }

    private static func watch(_ request: WatchRequest, until end: End, in context: ServiceContext, seed: UInt64) async throws {
        let target = request.target
        var replica = WatchReplica()
        let session = try await WatchSession(request, in: context)
        try await session.follow(into: &replica) { replica in
            guard replica.isCurrent, let last = end.sequence.withLock(\.self) else { return false }
            return replica.sequence >= last
        }
        #expect(replica.violations.isEmpty, "\(target) HEARTH_TEST_SEED=\(seed)")
        let documents = try await documents(of: target, in: context)
        #expect(
            replica.documents.values.sorted { $0.path < $1.path } == documents.sorted { $0.path < $1.path },
            "\(target) HEARTH_TEST_SEED=\(seed)"
        )
        if !replica.ranking.isEmpty {
            #expect(replica.ranking == documents.map(\.path), "\(target) HEARTH_TEST_SEED=\(seed)")
        }
    }

    private static func documents(of target: PreparedWatchTarget, in context: ServiceContext) async throws -> [EncodedDocument] {
        switch target {
        case .document(let path):
            return try await context.store.document(at: path).map { [$0] } ?? []
        case .collection(let path):
            let page = try await context.store.documents(in: path, after: nil, limit: 1_000, includingMissing: false)
            return page.documents.compactMap { entry in if case .document(let document) = entry { document } else { nil } }
        case .query(let watched):
            return try await context.store.run(watched.query, maximumBytes: 1 << 20, readTime: nil).documents
        }
    }
}
