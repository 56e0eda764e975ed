import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("Queued increments", .tags(.slow), .timeLimit(.minutes(10)))
    struct QueuedIncrementTests {
        /// `HEARTH_CUT_STRIDE=1` tests every byte.
        @Test func `Connections may break at any byte; each queued increment counts once`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                let counter = db.document("counters/a")
                var count = 0
                for bytes in stride(from: 1, through: 900, by: Int(CrashRandom.environmentNumber("HEARTH_CUT_STRIDE") ?? 23)) {
                    for isRequest in [true, false] {
                        if isRequest {
                            database.proxy.cutNext(afterRequestBytes: bytes)
                        } else {
                            database.proxy.cutNext(responseBytes: bytes)
                        }
                        // Several, so that a request has more than one.
                        for _ in 0..<3 { counter.setData(queuedIncrement, merge: true, completion: nil) }
                        count += 3
                        try await db.waitForPendingWrites()
                    }
                }
                #expect(try await database.serverFields("counters/a") == ["n": .integer(Int64(count))])
            }
        }

        @Test func `The server may be killed at any time; queued increments count once, and listeners show the sum`() async throws
        {
            try await withTemporaryFolder { folder in
                let data = folder.appendingPathComponent("data")
                var server = try await EndToEndServer(data: data)
                let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                defer { proxy.stop() }
                let clients = (0..<3).map { _ in OfflineDatabase.firestore(port: proxy.port) }
                let load = QueuedIncrementLoad()
                let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                    for (number, client) in clients.enumerated() {
                        group.addTask { try await load.run(client, number) }
                    }
                    for _ in 0..<4 {
                        try await Task.sleep(for: .milliseconds(.random(in: 300...900)))
                        _ = try await server.stop(with: SIGKILL)
                        server = try await EndToEndServer(data: data)
                        proxy.retarget(to: try #require(URL(string: server.address)?.port))
                    }
                    load.end()
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                let sum = counts.reduce(0, +)
                #expect(sum > 20)
                for client in clients {
                    var snapshots = SnapshotReader(client.document("counters/all").snapshots(includeMetadataChanges: true))
                    let synced = try await snapshots.next { !$0.metadata.isFromCache && !$0.metadata.hasPendingWrites }
                    #expect(synced.get("n") as? Int == sum)
                    try await client.terminate()
                }
                #expect(try await server.stop() == .code(0))
            }
        }
    }
}

/// The data that increments a counter.
private var queuedIncrement: [String: Any] { ["n": FieldValue.increment(Int64(1))] }

/// Clients that queue increments of a common counter and one of their own, and lose the network now and then.
private final class QueuedIncrementLoad: Sendable {
    private let isDone = Mutex(false)

    func end() {
        isDone.withLock { $0 = true }
    }

    /// Returns the number of increments, all of which the server has.
    func run(_ client: Firestore, _ number: Int) async throws -> Int {
        var count = 0
        while !isDone.withLock(\.self) {
            let batch = client.batch()
            batch.setData(queuedIncrement, forDocument: client.document("counters/all"), merge: true)
            batch.setData(queuedIncrement, forDocument: client.document("counters/\(number)"), merge: true)
            try await batch.enqueue()
            count += 1
            if count % 7 == 0 { try await client.disableNetwork() }
            if count % 7 == 3 { try await client.enableNetwork() }
            try await Task.sleep(for: .milliseconds(.random(in: 1...40)))
        }
        try await client.enableNetwork()
        try await client.waitForPendingWrites()
        return count
    }
}
