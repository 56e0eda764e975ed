import DocumentModel
import DocumentStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Histories that the engine has lost", EngineServer.condition)
struct LostHistoryTests {
    private static func time(_ microseconds: Int64) throws -> Timestamp { try Timestamp(microseconds: microseconds) }

    @Test
    func `The times of a loss that several servers record are one period, and the latest losses are kept`() throws {
        var lost = try LostHistory(nil)
        func add(after: Int64, through: Int64) throws {
            try lost.add(LostHistory.Period(after: Self.time(after), through: Self.time(through)))
        }
        try add(after: 100, through: 200)
        try add(after: 100, through: 250)
        try add(after: 90, through: 120)
        let known = try LostHistory(lost.encoded)
        #expect(known == lost)
        #expect(String(decoding: lost.encoded, as: UTF8.self) == #"{"lost":[{"after":90,"through":250}]}"#)
        for (time, isLost) in [(90, false), (91, true), (250, true), (251, false)] as [(Int64, Bool)] {
            #expect(try known.contains(Self.time(time)) == isLost)
        }
        for number in 1...20 as ClosedRange<Int64> {
            try add(after: number * 1_000, through: number * 1_000 + 10)
        }
        #expect(try !lost.contains(Self.time(4_005)) && lost.contains(Self.time(5_005)) && lost.contains(Self.time(20_005)))
        let damaged = #expect(throws: StatusError.self) { try LostHistory(Array("{}".utf8)) }
        #expect(damaged?.code == .dataLoss)
    }

    /// Returns the error of a read as of a time, when the server has noticed the loss; `nil` if there is none.
    private func failure(of store: PostgresStore, at time: Timestamp) async -> StatusError? {
        while true {
            do throws(StatusError) {
                _ = try await store.documents(
                    in: CollectionPath("c"),
                    after: nil,
                    limit: 5,
                    includingMissing: false,
                    readTime: time
                )
                return nil
            } catch {
                guard error.code == .unavailable else { return error }
            }
        }
    }

    @Test
    func `Reads as of a lost time end with an error on every server, and other times remain readable`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        var times: [Timestamp] = []
        for _ in 0..<5 { times.append(try await host.store.increment("c/counter").commitTime) }
        // As a fail-over to a standby that lacks the last two. Another server has not known them.
        try server.execute(Self.loss, in: configuration)
        let other = try await PostgresHost.open(configuration, logger: .silent)
        for store in [host.store, other.store] {
            for time in times[3...] {
                let error = try #require(await failure(of: store, at: time))
                #expect(error.code == .failedPrecondition && error.message.contains("lost commits"))
            }
            #expect(await failure(of: store, at: times[2]) == nil)
        }
        let next = try await other.store.increment("c/other").commitTime
        #expect(try await host.store.document(at: DocumentPath("c/other"), readTime: next)?.updateTime == next)
        await other.close()
        await host.close()
    }

    private static let loss = """
        DELETE FROM hearth.changes WHERE seq > 3;
        DELETE FROM hearth.commits WHERE seq > 3;
        """

    @Test
    func `A transaction that has listed what was lost is aborted before the loss is noticed`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        for _ in 0..<5 { try await host.store.increment("c/counter") }
        let known = host.store.position
        try server.execute(Self.loss, in: configuration)
        var reads = ReadSet()
        reads.recordListing(of: try CollectionPath("c"), after: SequenceNumber(5))
        let transaction = CommitTransaction(
            database: host.store.database,
            commits: [
                QueuedCommit(
                    request: CommitRequest(
                        writes: [try .set(DocumentPath("d/e"), [:])],
                        reads: reads,
                        author: nil,
                        identity: nil
                    )
                )
            ],
            fields: FieldIDs(seed: Array(repeating: 0, count: 16)),
            token: Array(repeating: 0, count: 16),
            known: known,
            configuration: configuration
        )
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let error = #expect(throws: StatusError.self) { try transaction.run(connection) }
        #expect(error?.code == .aborted && error?.retryAfter == .zero)
        connection.rollBack()
        #expect(try await host.store.increment("c/counter").sequence == SequenceNumber(4))
        await host.close()
    }

    @Test
    func `A transaction that has read exactly what was lost, before its server has followed the log, is aborted`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let other = try await PostgresHost.open(configuration, logger: .silent)
        for _ in 0..<3 { try await other.store.increment("c/counter") }
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let log = CommitLog(at: host.store.position, host.store.database, host.store.engine)
        for _ in 0..<2 { try await other.store.increment("c/counter") }
        // As it is told of the last commits by the settled position alone.
        let known = log.feed.position
        let seen = try await log.safePosition()
        #expect(known.lastSequence == SequenceNumber(3) && seen.lastSequence == SequenceNumber(5))
        var reads = ReadSet()
        reads.recordListing(of: try CollectionPath("c"), after: seen.lastSequence)
        let readAnchor = try #require(log.anchor(of: reads))
        await other.close()
        // The new history has as many commits.
        try server.execute(Self.loss, in: configuration)
        let next = try await PostgresHost.open(configuration, logger: .silent)
        for _ in 0..<2 { try await next.store.increment("c/other") }
        let transaction = CommitTransaction(
            database: host.store.database,
            commits: [
                QueuedCommit(
                    request: CommitRequest(
                        writes: [try .set(DocumentPath("d/e"), [:])],
                        reads: reads,
                        author: nil,
                        identity: nil
                    ),
                    readAnchor: readAnchor
                )
            ],
            fields: FieldIDs(seed: Array(repeating: 0, count: 16)),
            token: Array(repeating: 0, count: 16),
            known: known,
            configuration: configuration
        )
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let outcomes = try transaction.run(connection).outcomes
        connection.rollBack()
        #expect(outcomes.count == 1)
        #expect(throws: StatusError.self) { try outcomes[0].get() }
        for host in [next, host] { await host.close() }
    }

    @Test
    func `Transactions that have listed what was lost are aborted together, and after the loss was noticed`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        for _ in 0..<5 { try await store.increment("c/counter") }
        try server.execute(Self.loss, in: configuration)
        // The new history has as many commits, of other documents of the collection.
        let other = try await PostgresHost.open(configuration, logger: .silent)
        for _ in 0..<2 { try await other.store.increment("c/other") }
        var reads = ReadSet()
        reads.recordListing(of: try CollectionPath("c"), after: SequenceNumber(5))
        reads.restartCount = 0
        let codes = await withTaskGroup(of: StatusCode?.self) { [reads] group in
            for number in 0..<40 {
                group.addTask {
                    do throws(StatusError) {
                        _ = try await store.commit([.set(DocumentPath("d/\(number)"), [:])], validating: reads, by: nil)
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: .aborted, count: 40))
        while store.restartCount == 0 { await Task.yield() }
        reads.restartCount = 1
        _ = try await store.commit([.set(DocumentPath("d/new"), [:])], validating: reads, by: nil)
        #expect(try await store.size(of: CollectionPath("d")).documentCount == 1)
        await other.close()
        await host.close()
    }

    @Test
    func `Times before a commit that replaced a lost one are lost, whatever the clock of the new engine`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        var times: [Timestamp] = []
        for _ in 0..<5 { times.append(try await host.store.increment("c/counter").commitTime) }
        // The fourth commit of the new history is one after the lost fourth and before the lost fifth.
        try server.execute(
            """
            DELETE FROM hearth.changes WHERE seq > 3;
            DELETE FROM hearth.commits WHERE seq > 4;
            UPDATE hearth.commits SET time = \(times[3].microseconds + 1) WHERE seq = 4;
            """,
            in: configuration
        )
        for time in times[3...] {
            #expect(await failure(of: host.store, at: time)?.code == .failedPrecondition)
        }
        #expect(await failure(of: host.store, at: times[2]) == nil)
        await host.close()
    }

    @Test
    func `Reads as of a lost time are refused while the loss cannot be recorded`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        let store = host.store
        var times: [Timestamp] = []
        for _ in 0..<5 { times.append(try await store.increment("c/counter").commitTime) }
        // As while the new engine is read-only.
        try server.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE read_only_sql_transaction; END$$;
            CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON hearth.records EXECUTE FUNCTION refuse();
            \(Self.loss)
            """,
            in: configuration
        )
        func read(at time: Timestamp) async throws -> DocumentPage {
            try await store.documents(
                in: CollectionPath("c"),
                after: nil,
                limit: 5,
                includingMissing: false,
                readTime: time
            )
        }
        await #expect(throws: StatusError.self) { try await read(at: times[3]) }
        while store.restartCount == 0 { await Task.yield() }
        for index in [3, 4] {
            let error = await #expect(throws: StatusError.self) { try await read(at: times[index]) }
            #expect(error?.code == .unavailable)
        }
        #expect(store.restartCount == 1 && store.position.lastSequence == SequenceNumber(3))
        _ = try await read(at: times[2])
        try server.execute("DROP TRIGGER refuse ON hearth.records", in: configuration)
        #expect(await failure(of: store, at: times[3])?.code == .failedPrecondition)
        await host.close()
    }
}
