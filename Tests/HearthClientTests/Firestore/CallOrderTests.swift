import Foundation
import HearthClient
import TestSupport
import Testing
import TransportTestSupport

/// Calls with completions, which take effect in the order in which they are made.
@Suite("Order of calls", .timeLimit(.minutes(10)))
struct CallOrderTests {
    @Test func `The last change of the network counts, and writes after it wait`() async throws {
        let server = try StubServer { _ in .unavailable(retryAfter: nil) }
        for _ in 0..<50 {
            let db = server.firestore(.key("fsk_11111111_secretsecret"), MemoryCacheSettings())
            db.enableNetwork(completion: nil)
            db.disableNetwork(completion: nil)
            db.enableNetwork(completion: nil)
            db.disableNetwork(completion: nil)
            db.document("notes/a").setData(["n": 1], completion: nil)
            let error = await #expect(throws: FirestoreError.self) {
                try await db.collection("notes").count.getAggregation(source: .server)
            }
            #expect(error?.code == FirestoreErrorCode.unavailable.rawValue)
            #expect(try await db.writeQueueStatus.count == 1)
            try await db.terminate()
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `What follows the call of a termination follows the termination`() async throws {
        try await withTemporaryFolder { folder in
            let server = try StubServer { _ in .unavailable(retryAfter: nil) }
            let settings = PersistentCacheSettings(sizeBytes: NSNumber(value: FirestoreCacheSizeUnlimited), folder: folder)
            let db = server.firestore(.key("fsk_11111111_secretsecret"), settings)
            db.document("notes/a").setData(["n": 1], completion: nil)
            let (ends, end) = AsyncStream.makeStream(of: (any Error)?.self)
            db.terminate { error in end.yield(error) }
            db.clearPersistence { error in end.yield(error) }
            for await error in ends.prefix(2) { #expect(error == nil) }
            let next = server.firestore(.key("fsk_11111111_secretsecret"), settings)
            #expect(try await next.writeQueueStatus.count == 0)
            try await next.terminate()
        }
    }

    @Test func `A database that is being terminated is not returned again`() async throws {
        let name = "terminated-\(UUID().uuidString.lowercased())"
        let db = Firestore.firestore(database: name)
        db.terminate(completion: nil)
        #expect(Firestore.firestore(database: name) != db)
    }

    @Test func `A write without a cache that precedes a termination is made`() async throws {
        let server = try StubServer { _ in .committed }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        let (errors, error) = AsyncStream.makeStream(of: (any Error)?.self)
        db.document("notes/a").setData(["n": 1]) { failure in
            error.yield(failure)
            error.finish()
        }
        db.terminate(completion: nil)
        for await error in errors { #expect(error == nil) }
        #expect(server.requests.count == 1)
    }

    @Test func `A write without a cache is made although nobody holds the instance`() async throws {
        let server = try StubServer { _ in .committed }
        let (errors, error) = AsyncStream.makeStream(of: (any Error)?.self)
        server.firestore(.key("fsk_11111111_secretsecret")).document("notes/a").setData(["n": 1]) { failure in
            error.yield(failure)
            error.finish()
        }
        for await error in errors { #expect(error == nil) }
        #expect(server.requests.count == 1)
    }

    @Test func `A wait for writes without a cache ends well when a termination follows`() async throws {
        let server = try StubServer { _ in .committed }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        db.document("notes/a").setData(["n": 1], completion: nil)
        let (errors, error) = AsyncStream.makeStream(of: (any Error)?.self)
        db.waitForPendingWrites { failure in error.yield(failure) }
        db.terminate { failure in error.yield(failure) }
        for await error in errors.prefix(2) { #expect(error == nil) }
        #expect(server.requests.count == 1)
    }

    @Test func `A read from the server that a proxy answers is unavailable`() async throws {
        let server = try StubServer { _ in .json(status: 511, "<h1>Sign in to the network</h1>") }
        let db = server.firestore(nil, MemoryCacheSettings())
        let error = await #expect(throws: FirestoreError.self) { try await db.document("a/b").getDocument(source: .server) }
        #expect(error?.code == FirestoreErrorCode.unavailable.rawValue)
        try await db.terminate()
    }
}
