import DocumentModel
import DocumentStore
import Synchronization
import Testing

@testable import PostgresStore

/// Writers that each increment a counter of their own, on several servers, and what they were told.
final class CounterLoad: Sendable {
    private let hasEnded = Atomic(false)
    private let counts: Mutex<[(acknowledged: Int64, unknown: Int64)]>
    private let stores: [PostgresStore]
    private let acknowledgements = AsyncStream<Void>.makeStream()

    init(on stores: [PostgresStore], writers: Int = 16) {
        self.stores = stores
        counts = Mutex(Array(repeating: (0, 0), count: writers))
    }

    /// Runs the writers while `body` runs, to which it passes a function that waits for a number of acknowledgements.
    func run(_ body: (_ wait: (Int) async -> Void) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<counts.withLock(\.count) { group.addTask { try await self.write(writer) } }
            var received = acknowledgements.stream.makeAsyncIterator()
            defer { hasEnded.store(true, ordering: .relaxed) }
            try await body { count in
                for _ in 0..<count { _ = await received.next() }
            }
            hasEnded.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    private func write(_ writer: Int) async throws {
        while !hasEnded.load(ordering: .relaxed) {
            do throws(StatusError) {
                try await stores[writer % stores.count].increment("c/\(writer)")
                counts.withLock { $0[writer].acknowledged += 1 }
                acknowledgements.continuation.yield()
            } catch {
                #expect(error.code == .unavailable, "\(error)")
                if error.isOutcomeUnknown { counts.withLock { $0[writer].unknown += 1 } }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Expects that each acknowledged increment was made once, those of unknown outcome at most once, and nothing else, in one order
    /// without gaps. Returns all commits.
    func expectAllCommits(in store: PostgresStore) async throws -> [Commit] {
        var sum: Int64 = 0
        for (writer, count) in counts.withLock({ $0 }).enumerated() {
            let value = try await store.counter("c/\(writer)")
            #expect((count.acknowledged...(count.acknowledged + count.unknown)).contains(value), "writer \(writer)")
            sum += value
        }
        let commits = try await store.allCommits()
        #expect(commits.map(\.sequence.rawValue) == Array(1...UInt64(sum)))
        #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.time < $1.time })
        return commits
    }

    /// Follows the log of a store as a client does, which resumes after an error, until a commit.
    static func follow(_ store: PostgresStore, through last: @escaping @Sendable () -> SequenceNumber?) -> Task<[Commit], Never> {
        Task {
            var commits: [Commit] = []
            while last() == nil || commits.last?.sequence ?? .zero < last() ?? .zero {
                do {
                    for try await commit in store.commits(after: commits.last?.sequence ?? .zero) {
                        commits.append(commit)
                        if let end = last(), commit.sequence >= end { break }
                    }
                } catch {
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            return commits
        }
    }
}
