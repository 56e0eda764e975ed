import Foundation
import HearthClient
import Synchronization
import Testing
import TransportTestSupport

@Suite("Unresponsive server", .timeLimit(.minutes(10)))
struct SilentServerTests {
    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    /// Calls `body` with a database whose server accepts connections and never responds.
    private func withSilentServer(timeout: Duration, _ body: (Firestore) async throws -> Void) async throws {
        let listener = try LoopbackListener()
        defer { withExtendedLifetime(listener) {} }
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(listener.port)"
        settings.isSSLEnabled = false
        settings.timeout = timeout
        let db = Firestore(settings: settings)
        #expect(db.settings.timeout == timeout)
        try await body(db)
        // Cancelled, so that terminate() does not wait for the responses.
        let ending = Task { try await db.terminate() }
        ending.cancel()
        try await ending.value
    }

    @Test func `Calls time out as configured`() async throws {
        try await withSilentServer(timeout: .milliseconds(50)) { db in
            let reads: [() async throws -> Void] = [
                { _ = try await db.document("a/b").getDocument() }, { _ = try await db.collection("a").getDocuments() },
                { _ = try await db.collection("a").count.getAggregation(source: .server) },
                { try await db.document("a/b").setData([:]) },
            ]
            for read in reads {
                let error = await #expect(throws: FirestoreError.self) { try await read() }
                #expect(error?.domain == FirestoreErrorDomain)
                #expect(error?.code == FirestoreErrorCode.deadlineExceeded.rawValue)
            }
        }
    }

    @Test func `A cancelled read does not wait for queued writes`() async throws {
        try await withSilentServer(timeout: .seconds(60)) { db in
            let isCompleted = Flag()
            db.document("a/b").setData([:]) { _ in isCompleted.isSet.withLock { $0 = true } }
            let reading = Task { try await db.document("a/b").getDocument() }
            reading.cancel()
            await #expect(throws: FirestoreError.self) { try await reading.value }
            let hasCompleted = isCompleted.isSet.withLock(\.self)
            #expect(!hasCompleted)
        }
    }

    @Test func `A cancelled call fails immediately`() async throws {
        try await withSilentServer(timeout: .seconds(60)) { db in
            let query = db.collection("a").order(by: "b")
            let reading = Task { try await query.getDocuments() }
            reading.cancel()
            let error = await #expect(throws: FirestoreError.self) { try await reading.value }
            #expect(error?.code == FirestoreErrorCode.cancelled.rawValue)
        }
    }
}
