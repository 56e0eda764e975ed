import DocumentModel
import DocumentStore
import Logging
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Commits of several servers", EngineServer.condition)
struct CommitOrderTests {
    @Test
    func `The commits of 64 callers on two servers have one order without gaps, and every server has all of them`() async throws {
        try await EngineServer.shared.value.withHosts(2) { hosts in
            let stores = hosts.map(\.store)
            let results = try await withThrowingTaskGroup(of: [CommitResult].self) { group in
                for caller in 0..<64 {
                    group.addTask {
                        var results: [CommitResult] = []
                        for _ in 0..<10 { results.append(try await stores[caller % 2].increment("c/counter")) }
                        return results
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(results.compactMap(\.sequence?.rawValue)) == Set(1...640))
            for store in stores {
                #expect(try await store.counter("c/counter") == 640)
                let commits = try await store.allCommits()
                #expect(commits.map(\.sequence.rawValue) == Array(1...640))
                #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.time < $1.time })
                #expect(zip(commits, commits.dropFirst()).allSatisfy { $0.changes[0].after == $1.changes[0].before })
            }
        }
    }

    @Test
    func `A watcher is told of the commit of another server`() async throws {
        try await EngineServer.shared.value.withHosts(2) { hosts in
            let (writer, reader) = (hosts[0].store, hosts[1].store)
            for number in 1...20 as ClosedRange<UInt64> {
                let next = Task {
                    var iterator = reader.commits(after: SequenceNumber(number - 1)).makeAsyncIterator()
                    return try await iterator.next()?.sequence
                }
                try await writer.increment("c/counter")
                #expect(try await next.value == SequenceNumber(number))
            }
        }
    }

    @Test
    func `A transaction that was aborted by the engine is made again, once`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        // At COMMIT, as engines do that order transactions afterward.
        try server.execute(
            """
            CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF random() < 0.4 THEN RAISE EXCEPTION 'restart transaction' USING ERRCODE = '40001'; END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER conflict AFTER INSERT ON hearth.commits DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION conflict();
            """,
            in: configuration
        )
        var acknowledgedCount: Int64 = 0
        for _ in 0..<100 {
            do throws(StatusError) {
                try await host.store.increment("c/counter")
                acknowledgedCount += 1
            } catch {
                // After eight conflicts in a row.
                #expect(error.code == .unavailable)
            }
        }
        #expect(acknowledgedCount > 90)
        #expect(try await host.store.counter("c/counter") == acknowledgedCount)
        #expect(try await host.store.safePosition().lastSequence == SequenceNumber(UInt64(acknowledgedCount)))
        await host.close()
    }

    @Test
    func `A commit that fails in the engine does not fail those beside it`() async throws {
        let server = try await EngineServer.shared.value
        let configuration = try await server.makeConfiguration()
        let host = try await PostgresHost.open(configuration, logger: .silent)
        try server.execute(
            """
            CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF convert_from(NEW.path, 'UTF8') = 'c/bad' THEN
                    RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER full_disk BEFORE INSERT ON hearth.documents FOR EACH ROW EXECUTE FUNCTION full_disk();
            """,
            in: configuration
        )
        let store = host.store
        let codes = await withTaskGroup(of: StatusCode?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    do throws(StatusError) {
                        _ = try await store.commit([.set(DocumentPath(number == 20 ? "c/bad" : "c/\(number)"), [:])])
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.compactMap(\.self) == [.resourceExhausted])
        #expect(try await store.size(of: nil).documentCount == 39)
        #expect(try await store.safePosition().lastSequence == SequenceNumber(39))
        await host.close()
    }
}
