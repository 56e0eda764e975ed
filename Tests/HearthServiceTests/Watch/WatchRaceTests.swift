import DocumentModel
import DocumentStore
import HearthService
import StrictJSON
import TestSupport
import Testing

/// Streams on the real store, begun while others write.
@Suite(.timeLimit(.minutes(2))) struct WatchRaceTests {
    @Test("Whatever is written while streams begin, each watcher ends up with what is there, and is told nothing twice")
    func beginsWhileWriting() async throws {
        let seed = SeededGenerator.currentSeed
        try await withService { service in
            try await withThrowingTaskGroup { group in
                for number in 0..<12 {
                    let target: WatchTarget =
                        number.isMultiple(of: 3) ? .document(try DocumentPath("c/7")) : .collection(try CollectionPath("c"))
                    group.addTask { try await Self.watch(target, in: service.context, seed: seed) }
                }
                group.addTask { try await Self.writeAll(seed, in: service.context) }
                try await group.waitForAll()
            }
        }
    }

    /// Lets several write at random at the same time, and marks the end in a document that every watcher watches.
    private static func writeAll(_ seed: UInt64, in context: ServiceContext) async throws {
        try await withThrowingTaskGroup { group in
            for writer in 0..<3 {
                group.addTask { try await write(seed &+ UInt64(writer), rounds: 60, in: context) }
            }
            try await group.waitForAll()
        }
        _ = try await context.store.commit([.set(DocumentPath("c/7"), ["v": .integer(end)])])
    }

    private static let end: Int64 = -1

    /// Writes at random, one to three documents at a time.
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

    private static func watch(_ target: WatchTarget, in context: ServiceContext, seed: UInt64) async throws {
        var replica = WatchReplica()
        let session = try WatchSession(WatchRequest(target: target), in: context)
        let last = try DocumentPath("c/7")
        try await session.follow(into: &replica) { replica in
            (try? replica.documents[last]?.decoded().fields["v"]) == .integer(end)
        }
        #expect(replica.faults.isEmpty, "HEARTH_TEST_SEED=\(seed)")
        let page = try await context.store.documents(in: CollectionPath("c"), after: nil, limit: 1_000, includingMissing: false)
        let documents = page.documents.compactMap { entry in
            if case .document(let document) = entry, target.contains(document.path) { document } else { nil }
        }
        #expect(replica.documents.values.sorted { $0.path < $1.path } == documents, "HEARTH_TEST_SEED=\(seed)")
    }
}
