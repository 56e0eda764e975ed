import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

extension OfflineTests {
    @Suite("A server that was restored from a backup", .timeLimit(.minutes(10)))
    struct RestoredServerTests {
        @Test func `Clients show what the server has then, and what they have queued is made once`() async throws {
            try await withTemporaryFolder { folder in
                let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
                let server = try await EndToEndServer(data: data, arguments: ["--backups", backups.path])
                let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                defer { proxy.stop() }
                let settings = PersistentCacheSettings(
                    sizeBytes: (100 << 20) as NSNumber,
                    folder: folder.appending(path: "caches")
                )
                let clients = [settings, MemoryCacheSettings() as any LocalCacheSettings].map { cache in
                    OfflineDatabase.firestore(port: proxy.port, cache)
                }
                var readers = clients.map { db in
                    SnapshotReader(db.collection("notes").snapshots(includeMetadataChanges: true))
                }
                for (number, db) in clients.enumerated() {
                    try await db.document("notes/counter").setData(["n": FieldValue.increment(Int64(1))], merge: true)
                    try await db.document("notes/kept\(number)").setData(["n": number])
                }
                let name = try #require(try await hearth("backup", "create", "--server", server.address).output.first)
                for (number, db) in clients.enumerated() {
                    try await db.document("notes/counter").setData(["n": FieldValue.increment(Int64(10))], merge: true)
                    try await db.document("notes/kept\(number)").updateData(["n": 100])
                    try await db.document("notes/lost\(number)").setData(["n": number])
                }
                for index in readers.indices {
                    _ = try await readers[index].next {
                        $0.count == 5 && !$0.metadata.hasPendingWrites && !$0.metadata.isFromCache
                    }
                }
                proxy.setRefusing(true)
                for (number, db) in clients.enumerated() {
                    let batch = db.batch()
                    batch.setData(["n": FieldValue.increment(Int64(100))], forDocument: db.document("notes/counter"), merge: true)
                    batch.setData(["n": number], forDocument: db.document("notes/queued\(number)"))
                    try await batch.enqueue()
                }
                #expect(try await server.stop() == .code(0))
                let old = folder.appending(path: "old")
                try FileManager.default.moveItem(at: data, to: old)
                let backup = backups.path + "/" + name
                #expect(try await hearth("restore", backup, "--data", data.path, "--previous", old.path).status == .code(0))
                let restored = try await EndToEndServer(data: data)
                proxy.retarget(to: try #require(URL(string: restored.address)?.port))
                proxy.setRefusing(false)
                let expected = ["counter 202", "kept0 0", "kept1 1", "queued0 0", "queued1 1"]
                for (index, db) in clients.enumerated() {
                    try await db.waitForPendingWrites()
                    let shown = try await readers[index].next { snapshot in
                        snapshot.documents.map(\.summary) == expected && !snapshot.metadata.isFromCache
                            && !snapshot.metadata.hasPendingWrites
                    }
                    #expect(shown.count == expected.count)
                    #expect(try await db.collection("notes").getDocuments().documents.map(\.summary) == expected)
                    #expect(try await db.collection("notes").getDocuments(source: .cache).documents.map(\.summary) == expected)
                    #expect(try await db.writeQueueStatus.count == 0)
                    try await db.terminate()
                }
                #expect(try await restored.stop() == .code(0))
            }
        }
    }
}

extension DocumentSnapshot {
    /// The ID and the number of the document.
    fileprivate var summary: String { "\(documentID) \(self["n"] as? Int ?? -1)" }
}
