import Foundation
import HearthClient
import TestSupport
import Testing

extension OfflineTests {
    @Suite("A queue that was set back", .timeLimit(.minutes(10)))
    struct RestoredQueueTests {
        /// Queues an increment of a counter by a power of ten, and of a mark of its own.
        private func queue(_ exponent: Int, in db: Firestore) async throws {
            let amount = (0..<exponent).reduce(Int64(1)) { product, _ in product * 10 }
            let batch = db.batch()
            batch.setData(["n": FieldValue.increment(amount)], forDocument: db.document("counters/all"), merge: true)
            batch.setData(["n": FieldValue.increment(Int64(1))], forDocument: db.document("marks/\(exponent)"), merge: true)
            try await batch.enqueue()
        }

        /// The server has made one commit, or two, of the later queue when the earlier one comes back, of which it then has, or has no
        /// longer, the answer to the first.
        @Test(arguments: [1, 2, 4])
        func `No write is made twice after a backup of the device was restored, and none is lost silently`(
            laterCount: Int
        ) async throws {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                    defer { proxy.stop() }
                    let caches = folder.appending(path: "caches")
                    let backup = folder.appending(path: "backup")
                    let settings = PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: caches)

                    let first = OfflineDatabase.firestore(port: proxy.port, settings)
                    try await queue(0, in: first)
                    try await first.waitForPendingWrites()
                    proxy.setRefusing(true)
                    // In the backup it has not been sent.
                    try await queue(1, in: first)
                    try await first.terminate()
                    try FileManager.default.copyItem(at: caches, to: backup)

                    proxy.setRefusing(false)
                    let second = OfflineDatabase.firestore(port: proxy.port, settings)
                    for number in 1..<laterCount { try await queue(1 + number, in: second) }
                    try await second.waitForPendingWrites()
                    try await second.terminate()

                    try FileManager.default.removeItem(at: caches)
                    try FileManager.default.moveItem(at: backup, to: caches)
                    let third = OfflineDatabase.firestore(port: proxy.port, settings)
                    try await third.disableNetwork()
                    for exponent in 8..<12 { try await queue(exponent, in: third) }
                    try await third.enableNetwork()
                    try await third.waitForPendingWrites()
                    try await third.document("marks/end").setData(["n": 1])
                    let marks = try await server.firestore.collection("marks").getDocuments().documents
                    #expect(marks.allSatisfy { $0.get("n") as? Int == 1 })
                    let made = Set(marks.compactMap { Int($0.documentID) })
                    let missing = Set(0..<1 + laterCount).union(8..<12).subtracting(made)
                    let counter = try await server.firestore.document("counters/all").getDocument().get("n") as? Int ?? 0
                    #expect(String(counter).reversed().enumerated().allSatisfy { made.contains($0) ? $1 == "1" : $1 == "0" })
                    #expect(missing.isSubset(of: 8..<12) && missing.count < laterCount)
                    // Those are reported, since they could be the ones that the server has had under their numbers.
                    var rejected = third.rejectedWrites.makeAsyncIterator()
                    for exponent in missing.sorted() {
                        let writes = try #require(try await rejected.next())
                        #expect(writes.error.code == FirestoreErrorCode.unknown.rawValue)
                        #expect(writes.writes.last?.document.path == "marks/\(exponent)")
                    }
                    try await third.terminate()
                }
            }
        }
    }
}
