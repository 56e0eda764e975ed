import Foundation
import HearthClient
import Synchronization
import Testing

@Suite("A server that does not answer", .timeLimit(.minutes(1)))
struct SilentServerTests {
    private final class Answer: Sendable {
        let hasCome = Mutex(false)
    }

    /// Runs `body` with a database where connections are taken up and nothing is said.
    private func withSilence(timeout: Duration, _ body: (Firestore) async throws -> Void) async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, pointer, &size) == 0
            }
        }
        try #require(isListening)
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        settings.isSSLEnabled = false
        settings.timeout = timeout
        let db = Firestore(settings: settings)
        #expect(db.settings.timeout == timeout)
        try await body(db)
        // Nobody waits for the answers that never come.
        let ending = Task { try await db.terminate() }
        ending.cancel()
        try await ending.value
    }

    @Test func `is waited for as long as the settings say`() async throws {
        try await withSilence(timeout: .milliseconds(50)) { db in
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

    @Test func `is not waited for by who is cancelled while a write has to be answered first`() async throws {
        try await withSilence(timeout: .seconds(60)) { db in
            let answer = Answer()
            db.document("a/b").setData([:]) { _ in answer.hasCome.withLock { $0 = true } }
            let reading = Task { try await db.document("a/b").getDocument() }
            reading.cancel()
            await #expect(throws: FirestoreError.self) { try await reading.value }
            let hasCome = answer.hasCome.withLock(\.self)
            #expect(!hasCome)
        }
    }

    @Test func `is not waited for by who is cancelled`() async throws {
        try await withSilence(timeout: .seconds(60)) { db in
            let query = db.collection("a").order(by: "b")
            let reading = Task { try await query.getDocuments() }
            reading.cancel()
            let error = await #expect(throws: FirestoreError.self) { try await reading.value }
            #expect(error?.code == FirestoreErrorCode.cancelled.rawValue)
        }
    }
}
