import Concurrency
import DocumentModel
import DocumentStore
import Foundation
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

    @Test(.timeLimit(.minutes(2)))
    func `A server that stands still in the middle of a commit keeps others waiting for a limited time`() async throws {
        let server = try await EngineServer.shared.value
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        func open(at folder: String) async throws -> PostgresHost {
            var configuration = PostgresConfiguration(try EngineAddress(server.url(name, socketFolder: folder)))
            configuration.timeout = .seconds(300)
            configuration.maximumStall = .seconds(1)
            return try await PostgresHost.open(configuration, logger: .silent)
        }
        let (still, other) = (try await open(at: proxy.socketFolder), try await open(at: server.socketFolder))
        proxy.prepare([.stall])
        async let stalled = still.store.increment("c/counter")
        while proxy.faultCount.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        try await other.store.increment("c/counter")
        _ = try await stalled
        #expect(try await other.store.counter("c/counter") == 2)
        #expect(try await other.store.allCommits().count == 2)
        for host in [still, other] { await host.close() }
    }

    @Test
    func `A transaction was committed only if the engine has all of its commits, made at its time`() async throws {
        try await EngineServer.shared.value.withHosts { hosts in
            let store = hosts[0].store
            let token: [UInt8] = [1, 2, 3]
            let commits = try (1...2).map { number in
                QueuedCommit(
                    request: CommitRequest(
                        writes: [try .adding(1, to: DocumentPath("c/counter"))],
                        reads: ReadSet(),
                        author: nil,
                        identity: nil
                    ),
                    forwardedToken: token + [UInt8(number)]
                )
            }
            let transaction = CommitTransaction(
                database: store.database,
                commits: commits,
                fields: FieldIDs(seed: Array(repeating: 1, count: 16)),
                token: token,
                known: try await store.safePosition(),
                configuration: hosts[0].configuration
            )
            try await hosts[0].engine.writes.write { [database = store.database] connection throws(StatusError) in
                let outcome = try transaction.run(connection)
                func wasCommitted(_ commits: [Commit], _ tokens: [[UInt8]]) throws(StatusError) -> Bool {
                    let other = CommitTransaction.Outcome(
                        outcomes: [],
                        commits: commits,
                        tokens: tokens,
                        previous: outcome.previous,
                        lockDelay: .zero,
                        sync: nil
                    )
                    return try CommitTransaction.wasCommitted(other, database, connection)
                }
                let (made, tokens) = (outcome.commits, outcome.tokens)
                #expect(try wasCommitted(made, tokens))
                // As another server makes a commit that it has forwarded, when it gets no answer: under the same token, later.
                let earlier = try Timestamp(microseconds: made[0].time.microseconds - 1)
                let first = Commit(sequence: made[0].sequence, time: earlier, author: nil, changes: made[0].changes)
                #expect(try !wasCommitted([first], [tokens[0]]))
                let third = Commit(sequence: SequenceNumber(3), time: made[1].time, author: nil, changes: made[1].changes)
                #expect(try !wasCommitted(made + [third], tokens + [token]))
                #expect(try !wasCommitted(made, [tokens[0], token]))
            }
        }
    }

    /// The number of faults; a thousand take about a quarter of an hour.
    private static let faultCount = ProcessInfo.processInfo.environment["HEARTH_ENGINE_FAULTS"].flatMap { Int($0) } ?? 6

    @Test
    func `Acknowledged commits are made once, when the engine is killed or the network is cut`() async throws {
        let server = try await EngineServer()
        let name = try await server.makeDatabase()
        let proxies = [try EngineProxy(of: server.socketFolder), try EngineProxy(of: server.socketFolder)]
        var hosts: [PostgresHost] = []
        for proxy in proxies {
            let configuration = PostgresConfiguration(
                try EngineAddress(server.url(name, socketFolder: proxy.socketFolder))
            )
            hosts.append(try await PostgresHost.open(configuration, logger: .silent))
        }
        let stores = hosts.map(\.store)
        let last = Mutex<SequenceNumber?>(nil)
        let followers = stores.map { store in CounterLoad.follow(store) { last.withLock { $0 } } }
        let load = CounterLoad(on: stores)
        var random = SeededGenerator()
        try await load.run { wait in
            for number in 0..<Self.faultCount {
                await wait(100)
                let proxy = proxies.randomElement(using: &random) ?? proxies[0]
                switch number % 4 {
                case 0:
                    if number % 8 == 0 { try await server.kill() } else { try await server.stopImmediately() }
                    try await server.start()
                case 1: proxy.cut([.toEngine])
                case 2: proxy.cut([.toClient])
                default: proxy.cut([.toEngine, .toClient])
                }
                // The other server goes on meanwhile, unless this one has the lock.
                try await Task.sleep(for: .milliseconds(.random(in: 10...800, using: &random)))
                proxy.mend()
            }
            await wait(100)
        }
        let commits = try await load.expectAllCommits(in: stores[0])
        last.withLock { $0 = commits.last?.sequence }
        // Wakes followers that wait for the next commit.
        while (try? await stores[0].increment("c/end")) == nil {}
        for follower in followers { #expect(await follower.value.prefix(commits.count).elementsEqual(commits)) }
        for host in hosts { await host.close() }
    }

    @Test
    func `A write goes over a new connection when the engine was restarted, and no call fails`() async throws {
        let server = try await EngineServer()
        let host = try await PostgresHost.open(await server.makeConfiguration(), logger: .silent)
        try await host.store.setQuota(DatabaseQuota(documentCount: 10))
        try await server.stopImmediately()
        try await server.start()
        try await host.store.setQuota(DatabaseQuota(documentCount: 20))
        #expect(try await host.store.quota().documentCount == 20)
        try await host.store.increment("c/counter")
        await host.close()
    }

    @Test
    func `The check whether commits are accepted ends while the engine is silent`() async throws {
        let server = try await EngineServer.shared.value
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        var configuration = PostgresConfiguration(
            try EngineAddress(server.url(name, socketFolder: proxy.socketFolder))
        )
        configuration.timeout = .seconds(120)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        // Under load it may not answer in time.
        while await host.store.writeBlockedReason != nil {}
        proxy.cut([.toEngine])
        let begin = ContinuousClock.now
        let reasons = await withTaskGroup(of: StatusError?.self) { group in
            for _ in 0..<20 { group.addTask { await host.store.writeBlockedReason } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reasons.allSatisfy { $0?.code == .unavailable })
        #expect(ContinuousClock.now - begin < .seconds(100))
        proxy.mend()
        while await host.store.writeBlockedReason != nil {}
        await host.close()
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
        #expect(store.position.restartCount == 1 && store.restartCount == 1)
        let commits = try await store.allCommits()
        #expect(commits.map(\.sequence.rawValue) == Array(1...6))
        #expect(try commits[4].changes.map(\.path) == [DocumentPath("c/other")])
        #expect(try await store.increment("c/other").sequence == SequenceNumber(7))
        await other.close()
        await host.close()
    }

    @Test
    func `A server that stood still in a transaction may try again`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let still = try EngineConnection(configuration.address, timeout: .seconds(60), maximumIdle: .milliseconds(1))
        let id = try #require(try still.execute(EngineStatement("SELECT pg_backend_pid()::bigint")).integer(0, 0))
        let other = try EngineConnection(configuration.address, timeout: .seconds(60))
        try still.execute(EngineStatement("BEGIN"))
        let statement = EngineStatement("SELECT count(*) FROM pg_stat_activity WHERE pid = $1::bigint", .integer(id))
        while try other.execute(statement).integer(0, 0) != 0 { try await Task.sleep(for: .milliseconds(5)) }
        let error = #expect(throws: StatusError.self) { try still.execute(EngineStatement("COMMIT")) }
        #expect(error?.code == .unavailable)
        #expect(error?.engineError?.isOutcomeUnknown == true)
        #expect(!still.isUsable)
        // The engine's reason may arrive, too, or only the end of the connection.
        let told = EngineError.statement(code: "25P03", message: "")
        #expect(told.isConnectionLost && told.isOutcomeUnknown && told.status.code == .unavailable)
    }

    @Test
    func `The age of the log grows while the engine does not answer looks at it`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try server.execute("ALTER TABLE hearth.commits RENAME TO away", in: configuration)
        while try #require(host.engineStatus).logAge < .seconds(2) { try await Task.sleep(for: .milliseconds(20)) }
        try server.execute("ALTER TABLE hearth.away RENAME TO commits", in: configuration)
        while try #require(host.engineStatus).logAge > .seconds(2) { try await Task.sleep(for: .milliseconds(20)) }
        await host.close()
    }

    @Test
    func `Readers of the log end when the engine is away for long, and go on when it is back`() async throws {
        let server = try await EngineServer()
        var configuration = try await server.makeConfiguration()
        configuration.maximumLogAge = .milliseconds(300)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        try await store.increment("c/counter")
        let reader = Task {
            var iterator = store.commits(after: SequenceNumber(1)).makeAsyncIterator()
            return try await iterator.next()
        }
        let notification = AsyncStream<Void>.makeStream()
        _ = store.notify(after: SequenceNumber(1)) { notification.continuation.finish() }
        try await server.stopImmediately()
        let error = await #expect(throws: StatusError.self) { try await reader.value }
        #expect(error?.code == .unavailable && error?.message.contains("cannot be reached") == true)
        for await _ in notification.stream {}
        // The history is the same.
        #expect(store.position.restartCount == 0 && store.restartCount == 0)
        #expect(host.engineStatus?.isReached == false)
        try await server.start()
        while true {
            do throws(StatusError) {
                try await store.increment("c/counter")
                break
            } catch {
                #expect(error.code == .unavailable, "\(error)")
            }
        }
        var iterator = store.commits(after: SequenceNumber(1)).makeAsyncIterator()
        #expect(try await iterator.next()?.sequence == SequenceNumber(2))
        // Readers wait again, as soon as the log is followed.
        while true {
            let hasEnded = Mutex(false)
            store.notify(after: SequenceNumber(2)) { hasEnded.withLock { $0 = true } }.cancel()
            if hasEnded.withLock({ !$0 }) { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        // Another connection may have failed meanwhile; it is made again.
        while host.engineStatus?.isReached != true { try await Task.sleep(for: .milliseconds(5)) }
        await host.close()
    }

    @Test
    func `Nothing is repeated when no connection can be made`() async throws {
        let server = try await EngineServer()
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        let session = EngineSession(
            try EngineAddress(server.url(name, socketFolder: proxy.socketFolder)),
            timeout: .seconds(60),
            maximumIdle: .seconds(60),
            label: "test",
            log: EngineLog(.silent)
        )
        let select = { @Sendable (connection: EngineConnection) throws(StatusError) in
            _ = try connection.execute(EngineStatement("SELECT 1"))
        }
        try await session.run(repeating: true, select)
        try await server.stopImmediately()
        await #expect(throws: StatusError.self) { try await session.run(repeating: true, select) }
        #expect(proxy.connectionCount.load(ordering: .relaxed) == 2)
        await session.close()
    }

    @Test
    func `A server stops while the engine is silent, without its leases and what it has not answered`() async throws {
        let server = try await EngineServer.shared.value
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        var configuration = PostgresConfiguration(
            try EngineAddress(server.url(name, socketFolder: proxy.socketFolder))
        )
        configuration.timeout = .seconds(300)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        while host.engineStatus?.leaseCount == 0 { try await Task.sleep(for: .milliseconds(5)) }
        proxy.cut([.toEngine])
        // A read is in progress, too.
        let read = Task { try? await host.store.document(at: DocumentPath("c/d")) }
        while host.store.engine.reads.use.used == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let begin = ContinuousClock.now
        await host.close()
        #expect(ContinuousClock.now - begin < .seconds(100))
        proxy.mend()
        _ = await read.value
    }

    @Test
    func `Of the reads that waited for a silent engine, those of late calls are refused, and the others return their documents`()
        async throws
    {
        let server = try await EngineServer.shared.value
        let name = try await server.makeDatabase()
        let proxy = try EngineProxy(of: server.socketFolder)
        var configuration = PostgresConfiguration(
            try EngineAddress(server.url(name, socketFolder: proxy.socketFolder))
        )
        configuration.timeout = .seconds(300)
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        try await store.increment("c/counter")
        proxy.cut([.toEngine])
        let read = { @Sendable () async throws in try await store.counter("c/counter") }
        let first = (0..<2).map { _ in Task { try await read() } }
        while store.engine.reads.use.used < 2 { try await Task.sleep(for: .milliseconds(5)) }
        let late = CallAdmission.$current.withValue(CallAdmission(queueTime: .zero)) {
            (0..<3).map { _ in Task { try await read() } }
        }
        let others = (0..<3).map { _ in Task { try await read() } }
        while store.engine.gets.queueCount < 6 { try await Task.sleep(for: .milliseconds(5)) }
        proxy.mend()
        // One whose connection was being made fails.
        for task in first { _ = await task.result }
        for task in others {
            let count = try await task.value
            #expect(count == 1)
        }
        for task in late {
            let error = await #expect(throws: StatusError.self) { try await task.value }
            #expect(error?.code == .unavailable)
        }
        await host.close()
    }
}
