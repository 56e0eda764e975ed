import DocumentModel
import DocumentStore
import Logging
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Failures of the engine", EngineServer.condition, .tags(.crash))
struct EngineFailureTests {
    @Test(arguments: [[EngineProxy.Fault.loseAnswer], [.loseCommit], [.loseCommit, .loseAnswer], [.loseAnswer, .loseCommit]])
    func `A commit is made once when the connection is lost while it is made`(_ faults: [EngineProxy.Fault]) async throws {
        let server = try await EngineServer.shared.value
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        var configuration = PostgresConfiguration(
            try EngineAddress(server.url(name, socketFolder: proxy.socketFolder))
        )
        configuration.timeout = .seconds(60)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        proxy.prepare(faults)
        for number in 1...3 as ClosedRange<UInt64> {
            let result = try await host.store.increment("c/counter")
            #expect(result.sequence == SequenceNumber(number))
            #expect(result.writeResults.first?.transformResults == [.integer(Int64(number))])
        }
        // The second fault needs a new connection that commits.
        #expect(proxy.faultCount.load(ordering: .relaxed) >= 1)
        #expect(try await host.store.counter("c/counter") == 3)
        #expect(try await host.store.allCommits().count == 3)
        await host.close()
    }

    @Test
    func `No acknowledged commit is lost, and none is made twice, when the engine is killed`() async throws {
        let server = try await EngineServer()
        let configuration = try await server.makeConfiguration()
        let hosts = [
            try await PostgresHost.open(configuration, logger: .silent),
            try await PostgresHost.open(configuration, logger: .silent),
        ]
        let stores = hosts.map(\.store)
        let end = End()
        let counts = Counts()
        let acknowledgements = AsyncStream<Void>.makeStream()
        let follower = Task {
            // As a client does: it resumes after an error.
            var commits: [Commit] = []
            while !end.hasCome {
                do {
                    for try await commit in stores[1].commits(after: commits.last?.sequence ?? .zero) { commits.append(commit) }
                    return commits
                } catch {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            return commits
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<16 {
                group.addTask {
                    while !end.hasCome {
                        do throws(StatusError) {
                            try await stores[writer % 2].increment("c/\(writer)")
                            counts.add(acknowledged: 1, to: writer)
                            acknowledgements.continuation.yield()
                        } catch {
                            #expect(error.code == .unavailable, "\(error)")
                            if error.isOutcomeUnknown { counts.add(unknown: 1, to: writer) }
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                }
            }
            var received = acknowledgements.stream.makeAsyncIterator()
            for _ in 0..<3 {
                for _ in 0..<100 { _ = await received.next() }
                try await server.stopImmediately()
                try await server.start()
            }
            for _ in 0..<100 { _ = await received.next() }
            end.come()
            try await group.waitForAll()
        }
        var sum: Int64 = 0
        for writer in 0..<16 {
            let count = counts[writer]
            let value = try await stores[0].counter("c/\(writer)")
            #expect((count.acknowledged...(count.acknowledged + count.unknown)).contains(value), "writer \(writer)")
            sum += value
        }
        let commits = try await stores[0].allCommits()
        #expect(commits.map(\.sequence.rawValue) == Array(1...UInt64(sum)))
        while stores[1].position.lastSequence.rawValue < UInt64(sum) { try await Task.sleep(for: .milliseconds(10)) }
        for host in hosts { await host.close() }
        #expect(try await follower.value == commits)
    }

    @Test
    func `Readers of the log end when the engine has lost commits, and resume`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        for _ in 0..<5 { try await store.increment("c/counter") }
        let reader = Task {
            var iterator = store.commits(after: SequenceNumber(5)).makeAsyncIterator()
            return try await iterator.next()
        }
        // As a fail-over to a standby that lacks them; then another server commits.
        try server.execute(
            """
            DELETE FROM hearth.changes WHERE seq > 3;
            DELETE FROM hearth.commits WHERE seq > 3;
            """,
            in: configuration
        )
        let other = try await PostgresHost.open(configuration, logger: .silent)
        for _ in 0..<3 { try await other.store.increment("c/other") }
        let error = await #expect(throws: StatusError.self) { try await reader.value }
        #expect(error?.code == .unavailable)
        let commits = try await store.allCommits()
        #expect(commits.map(\.sequence.rawValue) == Array(1...6))
        #expect(try commits[4].changes.map(\.path) == [DocumentPath("c/other")])
        #expect(try await store.increment("c/other").sequence == SequenceNumber(7))
        await other.close()
        await host.close()
    }
}

/// The end of a test's load.
private final class End: Sendable {
    private let value = Atomic(false)

    var hasCome: Bool { value.load(ordering: .relaxed) }

    func come() { value.store(true, ordering: .relaxed) }
}

/// The numbers of commits of some writers.
private final class Counts: Sendable {
    private let counts = Mutex<[Int: (acknowledged: Int64, unknown: Int64)]>([:])

    func add(acknowledged: Int64 = 0, unknown: Int64 = 0, to writer: Int) {
        counts.withLock { counts in
            var count = counts[writer] ?? (0, 0)
            count.acknowledged += acknowledged
            count.unknown += unknown
            counts[writer] = count
        }
    }

    subscript(writer: Int) -> (acknowledged: Int64, unknown: Int64) {
        counts.withLock { $0[writer] ?? (0, 0) }
    }
}
