import DocumentModel
import SyncCache
import SyncEngine
import Synchronization
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Reopening a damaged cache", .timeLimit(.minutes(10)))
struct CacheReopeningTests {
    @Test func `A cache that cannot be opened again at first is opened later, and the client goes on`() async throws {
        // No answer decides about the writes.
        let server = try StubServer { _ in .unavailable(retryAfter: "300") }
        let damaged = PersistentCache.inMemory()
        let attempts = Mutex(0)
        let storage = SyncClient<PersistentCache>.Storage(
            open: { SyncClient.Storage.Opened(cache: damaged) },
            close: { $0.close() },
            reopen: { (cache) throws(StatusError) in
                guard cache.needsReopening else { return nil }
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                guard number > 1 else { throw StatusError(.unavailable, "The disk is full.") }
                return SyncClient<PersistentCache>.Storage.Reopened(cache: .inMemory(), keepsNumbers: false)
            }
        )
        let connection = try HearthConnection(server: server.address)
        let client = SyncClient(storage, for: UserID(nil), evicting: nil, over: connection)
        let completion = Mutex<StatusError?>(nil)
        #expect(await enqueue(in: client) { error in completion.withLock { $0 = error } } == nil)
        let begin = ContinuousClock.now
        damaged.close()
        #expect(await enqueue(in: client)?.code == .unavailable)
        var error = await enqueue(in: client)
        // Not with each input, but after a while.
        if ContinuousClock.now < begin + .seconds(1) {
            #expect(error != nil && attempts.withLock(\.self) == 1 && completion.withLock(\.self) == nil)
        }
        while error != nil {
            try await Task.sleep(for: .milliseconds(10))
            error = await enqueue(in: client)
        }
        #expect(attempts.withLock(\.self) == 2)
        // The first write was lost with the queue.
        #expect(completion.withLock(\.self)?.code == .unknown)
        #expect(try await client.queueStatus().count == 1)
        await client.terminate()
        await connection.shutdown()
    }

    /// Queues a write, and returns the error that prevents it.
    private func enqueue(
        in client: SyncClient<PersistentCache>,
        completed: (@Sendable (StatusError?) -> Void)? = nil
    ) async -> StatusError? {
        let path = try? DocumentPath("a/b")
        return await withCheckedContinuation { continuation in
            client.write(
                path.map { [Write(path: $0, operation: .replace([:]))] } ?? [],
                for: nil,
                queued: { continuation.resume(returning: $0) },
                completed: completed.map { completed in WriteCompletion(endsWithSession: false) { error, _ in completed(error) } }
            )
        }
    }
}
