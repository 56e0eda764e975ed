import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("The client on a disk that fails", .tags(.crash), .timeLimit(.minutes(10)))
    struct FailingDiskClientTests {
        /// Calls `body` with a server, a proxy to it and a folder for caches.
        private func withFolder(_ body: (EndToEndServer, CuttingProxy, CacheFiles) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                    defer { proxy.stop() }
                    try await body(server, proxy, CacheFiles(folder: folder.appending(path: "caches")))
                }
            }
        }

        /// Stores documents that are together larger than what SQLite keeps in memory.
        private func storeLargeDocuments(_ server: EndToEndServer) async throws {
            let text = String(repeating: "a", count: 100_000)
            for number in 0..<60 {
                _ = try await server.connection.set(
                    DocumentPath("notes/\(number)"),
                    ["text": .string(text), "n": .integer(0)]
                )
            }
        }

        @Test func `Damage of the cached documents while it is open is mended, and listeners do not notice`() async throws {
            try await withFolder { server, proxy, files in
                try await storeLargeDocuments(server)
                let db = OfflineDatabase.firestore(port: proxy.port, files.settings)
                let notes = db.collection("notes")
                var snapshots = SnapshotReader(notes.snapshots(includeMetadataChanges: true))
                _ = try await snapshots.next { !$0.metadata.isFromCache && $0.count == 60 }
                proxy.setRefusing(true)
                let pending = notes.document("7")
                pending.updateData(["n": FieldValue.increment(Int64(1))], completion: nil)
                _ = try await snapshots.next { $0.metadata.hasPendingWrites }
                for name in ["cache.sqlite", "cache.sqlite-wal"] { try files.overwrite(name) }
                // Reads the files.
                let cached = try await notes.getDocuments(source: .cache)
                #expect(cached.count == 60 && cached.metadata.hasPendingWrites)
                #expect(try await pending.getDocument(source: .cache).get("n") as? Int == 1)
                #expect(try files.names().contains("cache.sqlite.damaged-1"))

                _ = try await server.connection.set(DocumentPath("notes/8"), ["n": .integer(8)])
                try await server.connection.delete(DocumentPath("notes/9"))
                proxy.setRefusing(false)
                // Those that have not been read yet are among the next ones.
                let synced = try await snapshots.next { snapshot in
                    #expect((59...60).contains(snapshot.count))
                    return !snapshot.metadata.isFromCache && !snapshot.metadata.hasPendingWrites
                }
                #expect(synced.count == 59)
                let numbers = Dictionary(uniqueKeysWithValues: synced.documents.map { ($0.documentID, $0.get("n") as? Int) })
                #expect(numbers["7"] == 1 && numbers["8"] == 8 && numbers["10"] == 0)
                try await db.waitForPendingWrites()
                #expect(try await server.firestore.document("notes/7").getDocument().get("n") as? Int == 1)
                try await db.terminate()
            }
        }

        @Test func `Batches of a queue that is damaged while it is open are made once, as far as they can be read`() async throws
        {
            try await withFolder { server, proxy, files in
                let db = OfflineDatabase.firestore(port: proxy.port, files.settings)
                try await db.disableNetwork()
                let text = String(repeating: "a", count: 100_000)
                let count = 90
                for number in 0..<count {
                    let data: [String: Any] = ["text": text, "n": FieldValue.increment(Int64(1))]
                    try await db.batch().setData(data, forDocument: db.document("notes/\(number)"), merge: true).enqueue()
                }
                let errors = Mutex<[Int?]>([])
                db.document("notes/last").setData(["n": 1]) { error in
                    errors.withLock { $0.append((error as? FirestoreError)?.code) }
                }
                try await eventually { try await db.writeQueueStatus.count == count + 1 }
                try files.overwrite("queue.sqlite", from: 3 << 20, count: 3 * 4_096)
                try await db.enableNetwork()
                try await eventually { errors.withLock(\.count) == 1 }
                // It is not known any more whose number the batch had.
                #expect(errors.withLock(\.self) == [FirestoreErrorCode.unknown.rawValue])
                try await db.waitForPendingWrites()
                #expect(try await db.writeQueueStatus.count == 0)
                #expect(try files.names().contains("queue.sqlite.damaged-1"))
                let made = try await server.firestore.collection("notes").getDocuments().documents
                #expect(made.allSatisfy { $0.get("n") as? Int == 1 })
                #expect(made.contains { $0.documentID == "last" })
                var known = Set(made.map(\.documentID))
                let rejections = db.rejectedWrites
                try await db.terminate()
                for try await rejected in rejections {
                    #expect(rejected.error.code == FirestoreErrorCode.unknown.rawValue)
                    known.formUnion(rejected.writes.map(\.document.documentID))
                }
                // Those on the damaged pages are lost.
                #expect((count - 4...count).contains(known.count))
            }
        }

        @Test func `A folder that is removed is created again, with the queue`() async throws {
            try await withFolder { server, proxy, files in
                let first = OfflineDatabase.firestore(port: proxy.port, files.settings)
                try await first.disableNetwork()
                let counter = first.document("counters/a")
                let increment: [String: Any] = ["n": FieldValue.increment(Int64(1))]
                for _ in 0..<3 { try await first.batch().setData(increment, forDocument: counter, merge: true).enqueue() }
                try FileManager.default.removeItem(at: files.folder)
                try await first.batch().setData(increment, forDocument: counter, merge: true).enqueue()
                #expect(try await first.writeQueueStatus.count == 4)
                #expect(try await counter.getDocument(source: .cache).get("n") as? Int == 4)
                try await first.terminate()
                let second = OfflineDatabase.firestore(port: proxy.port, files.settings)
                #expect(try await second.collection("counters").getDocuments(source: .cache).metadata.hasPendingWrites)
                try await second.waitForPendingWrites()
                try await second.terminate()
                #expect(try await server.firestore.document("counters/a").getDocument().get("n") as? Int == 4)
            }
        }

        @Test(.enabled(if: TmpfsVolume.isAvailable, "Mounting a file system requires root"))
        func `On a full disk writes are refused, and what was queued is neither lost nor made twice`() async throws {
            try await TmpfsVolume.with(size: "4m") { volume in
                try await withServer { server in
                    let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                    defer { proxy.stop() }
                    let files = CacheFiles(folder: volume.folder.appending(path: "caches"))
                    let db = OfflineDatabase.firestore(port: proxy.port, files.settings)
                    let notes = db.collection("notes")
                    var snapshots = SnapshotReader(notes.snapshots)
                    #expect(try await snapshots.next().isEmpty)
                    // Sent, and not answered yet.
                    proxy.setSilent(true)
                    let counter = notes.document("counter")
                    try await db.batch().setData(["n": FieldValue.increment(Int64(1))], forDocument: counter, merge: true)
                        .enqueue()
                    try await db.batch().updateData(["n": 1], forDocument: notes.document("missing")).enqueue()
                    try volume.fill()
                    let large: [String: Any] = ["text": String(repeating: "a", count: 200_000)]
                    let refused = await #expect(throws: FirestoreError.self) { try await notes.document("large").setData(large) }
                    #expect(refused?.code == FirestoreErrorCode.resourceExhausted.rawValue)
                    #expect(refused?.localizedDescription.contains("Free some space") == true)
                    let enqueued = await #expect(throws: FirestoreError.self) {
                        try await db.batch().setData(large, forDocument: notes.document("large")).enqueue()
                    }
                    #expect(enqueued?.code == FirestoreErrorCode.resourceExhausted.rawValue)

                    proxy.setSilent(false)
                    _ = try await server.connection.set(DocumentPath("notes/b"), ["n": .integer(1)])
                    // The answers, which there is no space for.
                    try await eventually { try await db.writeQueueStatus.lastError != nil }
                    #expect(try await db.writeQueueStatus.count == 2)
                    #expect(try await server.firestore.document("notes/counter").getDocument().get("n") as? Int == 1)

                    try FileManager.default.removeItem(at: volume.folder.appending(path: "ballast"))
                    try await db.waitForPendingWrites()
                    try await notes.document("large").setData(large)
                    _ = try await snapshots.next { $0.documents.map(\.documentID) == ["b", "counter", "large"] }
                    #expect(try await server.firestore.document("notes/counter").getDocument().get("n") as? Int == 1)
                    var rejected = db.rejectedWrites.makeAsyncIterator()
                    #expect(try await rejected.next()?.writes.map(\.document.documentID) == ["missing"])
                    try await db.terminate()
                    #expect(try await rejected.next() == nil)
                }
            }
        }

        @Test func `A file that may not grow is like a full disk`() async throws {
            try await withFolder { server, proxy, files in
                await #expect(processExitsWith: .success) {
                    [port = proxy.port as Int, folder = files.folder.path as String] in
                    let files = CacheFiles(folder: URL(filePath: folder))
                    let db = OfflineDatabase.firestore(port: port, files.settings)
                    let note = db.document("notes/a")
                    try await note.setData(["n": 1])
                    try CacheFiles.setSizeLimit(60_000)
                    let large: [String: Any] = ["text": String(repeating: "a", count: 200_000)]
                    let error = await #expect(throws: FirestoreError.self) { try await note.setData(large) }
                    #expect(error?.code == FirestoreErrorCode.resourceExhausted.rawValue)
                    try CacheFiles.setSizeLimit(nil)
                    try await note.setData(large)
                    try await db.terminate()
                }
                let stored = try await server.firestore.document("notes/a").getDocument()
                #expect(stored.get("text") != nil)
            }
        }
    }
}

/// The files of the only cache in a folder.
private struct CacheFiles {
    let folder: URL

    var settings: PersistentCacheSettings {
        PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: folder)
    }

    private func slot() throws -> URL {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return folder.appending(path: try #require(names.first)).appending(path: "0")
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: slot().path)
    }

    /// Overwrites a part of a file that may be open, or the whole file.
    func overwrite(_ name: String, from offset: Int = 0, count: Int? = nil) throws {
        let file = try FileHandle(forUpdating: slot().appending(path: name))
        defer { try? file.close() }
        let size = try Int(file.seekToEnd())
        try #require(offset + (count ?? 0) <= size, "\(name) has \(size) bytes")
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 7, count: count ?? size - offset))
    }

    /// Limits the size of the files that this process writes.
    static func setSizeLimit(_ size: UInt?) throws {
        signal(SIGXFSZ, SIG_IGN)
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
        limits.rlim_cur = size ?? limits.rlim_max
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0)
    }
}
