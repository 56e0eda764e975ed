import Foundation
import HearthClient
import Synchronization
import Testing
import TransportTestSupport

@Suite("Attempts of transactions", .timeLimit(.minutes(10)))
struct TransactionRetryTests {
    /// Returns the response of a server without documents.
    private static func answer(to request: StubServer.Request) -> StubServer.Response {
        if request.body.contains("documents.commit") { return .committed }
        let result = request.body.contains("transactions.begin") ? #"{"transaction":"t"}"# : #"{"documents":[null]}"#
        return .json(status: 200, #"{"jsonrpc":"2.0","id":0,"result":\#(result)}"#)
    }

    @Test func `A transaction goes on when the server is back`() async throws {
        // It refuses the first two calls, of which none is a commit.
        let count = Mutex(0)
        let server = try StubServer { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number <= 2 { return .json(status: 500, #"{"error":{"code":13,"message":"","data":{"status":"INTERNAL"}}}"#) }
            return Self.answer(to: request)
        }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        let attempts = Mutex(0)
        try await db.runTransaction { transaction in
            attempts.withLock { $0 += 1 }
            _ = try await transaction.getDocument(db.document("notes/a"))
            transaction.setData(["n": 2], forDocument: db.document("notes/a"))
        }
        #expect(attempts.withLock(\.self) == 3)
        try await db.terminate()
    }

    /// The refusals of an overloaded server, and of a proxy whose server does not answer.
    private static let refusals = [
        StubServer.Response.json(
            status: 503,
            #"{"error":{"code":14,"message":"","data":{"status":"UNAVAILABLE","retryAfterMilliseconds":1,"executed":false}}}"#
        ),
        .unavailable(retryAfter: nil),
    ]

    @Test(arguments: refusals.indices)
    func `Transactions of a client do not multiply the load of a server that refuses them`(index: Int) async throws {
        let server = try StubServer { _ in Self.refusals[index] }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    _ = try? await db.runTransaction { transaction in try await transaction.getDocument(db.document("notes/a")) }
                }
            }
        }
        // Without a limit, each would be tried five times.
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        #expect(server.requests.count >= 40 && Double(server.requests.count) <= 40 + 20 + 2 * seconds)
        try await db.terminate()
    }

    @Test(arguments: [false, true])
    func `A document that was read as missing can be updated once it has been written`(isWritten: Bool) async throws {
        let server = try StubServer { Self.answer(to: $0) }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        let document = db.document("notes/a")
        do {
            try await db.runTransaction { transaction in
                let exists = try await transaction.getDocument(document).exists
                #expect(!exists)
                if isWritten { transaction.setData(["n": 1], forDocument: document) }
                transaction.updateData(["n": 2], forDocument: document)
            }
            #expect(isWritten)
        } catch FirestoreErrorCode.invalidArgument {
            #expect(!isWritten)
        }
        #expect(server.requests.contains { $0.body.contains("documents.commit") } == isWritten)
        try await db.terminate()
    }

    @Test func `A block can ask for another attempt with an error of its own`() async throws {
        let server = try StubServer { _ in .committed }
        let db = server.firestore(.key("fsk_11111111_secretsecret"))
        let attempts = Mutex(0)
        let result = try await db.runTransaction { _, error in
            let number = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard number < 3 else { return number }
            error?.pointee = NSError(domain: FirestoreErrorDomain, code: FirestoreErrorCode.aborted.rawValue)
            return nil
        }
        #expect(result as? Int == 3)
        try await db.terminate()
    }
}
