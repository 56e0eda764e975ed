import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("The client with a local cache", .timeLimit(.minutes(10)))
    struct OfflineClientTests {
        @Test func `A listener shows a local write at once, and its metadata tell when the server has it`() async throws {
            try await withOfflineDatabase { database in
                let document = database.firestore.document("notes/a")
                var snapshots = SnapshotReader(document.snapshots(includeMetadataChanges: true))
                let first = try await snapshots.next()
                #expect(!first.exists && !first.metadata.isFromCache)
                try await database.firestore.disableNetwork()
                document.setData(["n": 1], completion: nil)
                let local = try await snapshots.next { $0.exists }
                #expect(local.get("n") as? Int == 1)
                #expect(local.metadata.hasPendingWrites && local.metadata.isFromCache)
                #expect(try await database.serverFields("notes/a") == nil)
                try await database.firestore.enableNetwork()
                let synced = try await snapshots.next { !$0.metadata.hasPendingWrites && !$0.metadata.isFromCache }
                #expect(synced.get("n") as? Int == 1)
                #expect(try await database.serverFields("notes/a") == ["n": .integer(1)])
            }
        }

        @Test func `Without metadata changes a write while online is one event`() async throws {
            try await withOfflineDatabase { database in
                let notes = database.firestore.collection("notes")
                var snapshots = SnapshotReader(notes.snapshots)
                #expect(try await snapshots.next().isEmpty)
                try await notes.document("a").setData(["n": 1])
                try await notes.document("b").setData(["n": 2])
                #expect(try await snapshots.next().documents.map(\.documentID) == ["a"])
                #expect(try await snapshots.next().documents.map(\.documentID) == ["a", "b"])
            }
        }

        @Test func `Writes wait while the server is away, and reach it in their order`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                database.proxy.setRefusing(true)
                let completed = Mutex<[Int]>([])
                for number in 0..<25 {
                    db.document("log/\(number % 3)").setData(["n": number]) { error in
                        #expect(error == nil)
                        completed.withLock { $0.append(number) }
                    }
                }
                // The cache knows what was written here.
                let cached = try await db.document("log/0").getDocument(source: .cache)
                #expect(cached.get("n") as? Int == 24)
                #expect(cached.metadata.hasPendingWrites && cached.metadata.isFromCache)
                let status = try await db.writeQueueStatus
                #expect(status.count == 25 && status.byteCount > 0 && status.oldestWriteTime != nil)
                database.proxy.setRefusing(false)
                try await db.waitForPendingWrites()
                for id in 0..<3 { #expect(try await database.serverFields("log/\(id)") == ["n": .integer([24, 22, 23][id])]) }
                #expect(try await db.writeQueueStatus.count == 0)
                try await eventually { completed.withLock(\.count) == 25 }
                #expect(completed.withLock(\.self) == Array(0..<25))
            }
        }

        @Test func `Reads prefer the server, and use the cache without it`() async throws {
            try await withOfflineDatabase(MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings())) { database in
                let db = database.firestore
                let notes = db.collection("notes")
                for id in ["a", "b", "c"] {
                    _ = try await database.server.connection.set(
                        DocumentPath("notes/\(id)"),
                        ["id": .string(id), "n": .integer(1)]
                    )
                }
                let query = notes.whereField("n", isEqualTo: 1).order(by: "id", descending: true)
                let online = try await query.getDocuments()
                #expect(online.documents.map(\.documentID) == ["c", "b", "a"] && !online.metadata.isFromCache)
                #expect(try await !notes.document("x").getDocument().exists)
                _ = try await database.server.connection.set(DocumentPath("notes/a"), ["id": .string("a"), "n": .integer(2)])
                #expect(try await query.getDocuments().documents.map(\.documentID) == ["c", "b"])
                // The client asks what has become of a document that the result has no longer.
                try await eventually { try await notes.document("a").getDocument(source: .cache).get("n") as? Int == 2 }

                database.proxy.setRefusing(true)
                notes.document("b").updateData(["n": 5], completion: nil)
                notes.document("d").setData(["id": "d", "n": 1], completion: nil)
                let offline = try await query.getDocuments()
                #expect(offline.documents.map(\.documentID) == ["d", "c"])
                #expect(offline.metadata.isFromCache && offline.metadata.hasPendingWrites)
                #expect(try await notes.document("a").getDocument().get("n") as? Int == 2)
                // That a document does not exist is no answer of the cache, unless it is asked for.
                let missing = await #expect(throws: FirestoreError.self) { try await notes.document("x").getDocument() }
                #expect(missing?.code == FirestoreErrorCode.unavailable.rawValue)
                #expect(try await !notes.document("x").getDocument(source: .cache).exists)
                let server = await #expect(throws: FirestoreError.self) { try await query.getDocuments(source: .server) }
                #expect(server?.code == FirestoreErrorCode.unavailable.rawValue)
                let unknown = await #expect(throws: FirestoreError.self) {
                    try await notes.document("unknown").getDocument(source: .cache)
                }
                #expect(unknown?.code == FirestoreErrorCode.unavailable.rawValue)

                database.proxy.setRefusing(false)
                try await db.waitForPendingWrites()
                let again = try await query.getDocuments()
                #expect(again.documents.map(\.documentID) == ["d", "c"] && !again.metadata.isFromCache)
            }
        }

        @Test func `The result of a read has the writes that the server does not have yet`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                _ = try await database.server.connection.set(DocumentPath("notes/a"), ["n": .integer(1)])
                _ = try await database.server.connection.set(DocumentPath("notes/b"), ["n": .integer(2)])
                database.proxy.setSilent(true)
                db.document("notes/a").updateData(["m": 1], completion: nil)
                db.document("notes/b").delete(completion: nil)
                try await db.document("notes/c").enqueue(["n": 3])
                database.proxy.setSilent(false)
                let documents = try await db.collection("notes").getDocuments()
                #expect(documents.documents.map(\.documentID).contains("c"))
                try await db.waitForPendingWrites()
                let synced = try await db.collection("notes").getDocuments()
                #expect(synced.documents.map { $0.data() as? [String: Int] } == [["n": 1, "m": 1], ["n": 3]])
                #expect(!synced.metadata.hasPendingWrites)
            }
        }

        @Test func `A write that the server rejects is withdrawn, and those on top of it stay`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                var snapshots = SnapshotReader(db.collection("notes").snapshots)
                #expect(try await snapshots.next().isEmpty)
                try await db.disableNetwork()
                let errors = Mutex<[Int?]>([])
                let batch = db.batch()
                batch.setData(["n": 1], forDocument: db.document("notes/a"))
                batch.updateData(["n": 1], forDocument: db.document("notes/missing"))
                batch.commit { error in errors.withLock { $0.append((error as? FirestoreError)?.code) } }
                db.document("notes/b").setData(["n": 2]) { error in
                    errors.withLock { $0.append((error as? FirestoreError)?.code) }
                }
                _ = try await snapshots.next { $0.count == 2 }
                try await db.enableNetwork()
                let synced = try await snapshots.next { $0.documents.map(\.documentID) == ["b"] }
                #expect(synced.documentChanges.map(\.type) == [.removed])
                try await eventually { errors.withLock(\.count) == 2 }
                #expect(errors.withLock(\.self) == [FirestoreErrorCode.notFound.rawValue, nil])
                #expect(try await database.serverFields("notes/a") == nil)
                #expect(try await database.serverFields("notes/b") == ["n": .integer(2)])
            }
        }

        @Test func `Writes that are rejected while nobody waits are reported`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                try await db.disableNetwork()
                let batch = db.batch()
                batch.updateData(["n": FieldValue.increment(Int64(1))], forDocument: db.document("notes/missing"))
                try await batch.enqueue()
                try await db.enableNetwork()
                try await db.waitForPendingWrites()
                var rejected = db.rejectedWrites.makeAsyncIterator()
                let writes = try #require(try await rejected.next())
                #expect(writes.writes.map(\.document) == [db.document("notes/missing")])
                #expect(writes.writes.first?.data().isEmpty == true)
                #expect(writes.error.code == FirestoreErrorCode.notFound.rawValue)
                // The same writes, as they are received by somebody who comes back.
                var repeated = db.rejectedWrites.makeAsyncIterator()
                let same = try #require(try await repeated.next())
                try await db.document("notes/missing").setData(["n": 0])
                try await writes.resend()
                try await same.resend()
                try await db.waitForPendingWrites()
                #expect(try await database.serverFields("notes/missing") == ["n": .integer(1)])
            }
        }

        @Test func `Server timestamps are estimated until the server has set them`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                let document = db.document("notes/a")
                try await document.setData(["time": Timestamp(seconds: 1, nanoseconds: 0), "n": 1])
                var snapshots = SnapshotReader(document.snapshots)
                _ = try await snapshots.next()
                try await db.disableNetwork()
                let before = Date()
                document.updateData(["time": FieldValue.serverTimestamp(), "n": FieldValue.increment(Int64(1))], completion: nil)
                let local = try await snapshots.next()
                #expect(local.get("time") is NSNull)
                #expect(local.get("n") as? Int == 2)
                #expect(
                    local.get("time", serverTimestampBehavior: .previous) as? Timestamp == Timestamp(seconds: 1, nanoseconds: 0)
                )
                let estimate = try #require(local.get("time", serverTimestampBehavior: .estimate) as? Timestamp)
                #expect(abs(estimate.dateValue().timeIntervalSince(before)) < 60)
                struct Note: Decodable {
                    let time: Timestamp?
                }
                #expect(try local.data(as: Note.self).time == nil)
                #expect(try local.data(as: Note.self, with: .estimate).time == estimate)
                try await db.enableNetwork()
                let synced = try await snapshots.next { !($0.get("time") is NSNull) }
                let time = try #require(synced.get("time") as? Timestamp)
                #expect(synced.get("time", serverTimestampBehavior: .previous) as? Timestamp == time)
                #expect(synced.get("n") as? Int == 2)
            }
        }

        @Test func `A cancellation ends the wait for a write, and the write goes on`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                try await db.disableNetwork()
                let write = Task { try await db.document("notes/a").setData(["n": 1]) }
                try await eventually { try await db.writeQueueStatus.count == 1 }
                write.cancel()
                let error = await #expect(throws: FirestoreError.self) { try await write.value }
                #expect(error?.code == FirestoreErrorCode.cancelled.rawValue)
                try await db.enableNetwork()
                try await db.waitForPendingWrites()
                #expect(try await database.serverFields("notes/a") == ["n": .integer(1)])
            }
        }

        @Test func `A write that is rejected after its wait was cancelled is reported`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                try await db.disableNetwork()
                let write = Task { try await db.document("notes/missing").updateData(["n": 1]) }
                try await eventually { try await db.writeQueueStatus.count == 1 }
                write.cancel()
                await #expect(throws: FirestoreError.self) { try await write.value }
                var rejected = db.rejectedWrites.makeAsyncIterator()
                try await db.enableNetwork()
                let writes = try #require(try await rejected.next())
                #expect(writes.writes.map(\.document.path) == ["notes/missing"])
                #expect(writes.error.code == FirestoreErrorCode.notFound.rawValue)
            }
        }

        @Test func `Listeners to the cache follow local writes without the server`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                try await db.disableNetwork()
                let events = Mutex<[[String]]>([])
                let options = SnapshotListenOptions().withSource(.cache)
                let registration = db.collection("notes").addSnapshotListener(options: options) { snapshot, _ in
                    events.withLock { $0.append(snapshot?.documents.map(\.documentID) ?? ["error"]) }
                }
                try await eventually { events.withLock(\.self) == [[]] }
                db.document("notes/a").setData(["n": 1], completion: nil)
                try await eventually { events.withLock(\.self) == [[], ["a"]] }
                registration.remove()
                try await db.document("notes/b").enqueue(["n": 1])
                #expect(events.withLock(\.self) == [[], ["a"]])
            }
        }

        @Test func `Listeners for snapshots in sync are called after the others`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                let events = Mutex<[String]>([])
                let query = db.collection("notes").addSnapshotListener { snapshot, _ in
                    events.withLock { $0.append("\(snapshot?.count ?? -1) documents") }
                }
                try await eventually { events.withLock(\.self) == ["0 documents"] }
                let registration = db.addSnapshotsInSyncListener { events.withLock { $0.append("in sync") } }
                try await eventually { events.withLock(\.count) == 2 }
                try await db.disableNetwork()
                db.document("notes/a").setData(["n": 1], completion: nil)
                try await eventually { events.withLock(\.count) == 4 }
                #expect(events.withLock(\.self) == ["0 documents", "in sync", "1 documents", "in sync"])
                registration.remove()
                query.remove()
            }
        }

        @Test func `Listeners go on after the server was away, without missing a change`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                let query = db.collection("notes").order(by: "n", descending: true).limit(to: 2)
                for n in 1...3 {
                    _ = try await database.server.connection.set(DocumentPath("notes/\(n)"), ["n": .integer(Int64(n))])
                }
                var snapshots = SnapshotReader(query.snapshots(includeMetadataChanges: true))
                let first = try await snapshots.next { !$0.metadata.isFromCache }
                #expect(first.documents.map(\.documentID) == ["3", "2"])
                database.proxy.setRefusing(true)
                _ = try await snapshots.next { $0.metadata.isFromCache }
                try await database.server.connection.delete(DocumentPath("notes/3"))
                _ = try await database.server.connection.set(DocumentPath("notes/4"), ["n": .integer(4)])
                database.proxy.setRefusing(false)
                let synced = try await snapshots.next { !$0.metadata.isFromCache }
                #expect(synced.documents.map(\.documentID) == ["4", "2"])
            }
        }

        @Test func `A database without a cache says so`() async throws {
            try await withServer { server in
                let db = server.firestore
                let batch = db.batch().setData(["n": 1], forDocument: db.document("notes/a"))
                let enqueued = await #expect(throws: FirestoreError.self) { try await batch.enqueue() }
                #expect(enqueued?.code == FirestoreErrorCode.failedPrecondition.rawValue)
                let disabled = await #expect(throws: FirestoreError.self) { try await db.disableNetwork() }
                #expect(disabled?.code == FirestoreErrorCode.failedPrecondition.rawValue)
                try await db.terminate()
            }
        }

        @Test func `The snapshots of a listener end with the database`() async throws {
            try await withServer { server in
                for cache in [nil, MemoryCacheSettings()] {
                    let database = try OfflineDatabase(server, cache)
                    defer { database.proxy.stop() }
                    let db = database.firestore
                    let documents = Task {
                        var count = 0
                        for try await _ in db.collection("notes").snapshots { count += 1 }
                        return count
                    }
                    var snapshots = SnapshotReader(db.document("notes/a").snapshots)
                    _ = try await snapshots.next()
                    try await db.terminate()
                    #expect(try await documents.value <= 1)
                    #expect(try await snapshots.end())
                }
            }
        }

        @Test func `After termination waits end, and later calls fail`() async throws {
            try await withServer { server in
                let database = try OfflineDatabase(server)
                defer { database.proxy.stop() }
                let db = database.firestore
                try await db.disableNetwork()
                let write = Task { try await db.document("notes/a").setData(["n": 1]) }
                try await eventually { try await db.writeQueueStatus.count == 1 }
                try await db.terminate()
                let error = await #expect(throws: FirestoreError.self) { try await write.value }
                #expect(error?.code == FirestoreErrorCode.cancelled.rawValue)
                let later = await #expect(throws: FirestoreError.self) {
                    try await db.document("notes/a").getDocument(source: .cache)
                }
                #expect(later?.code == FirestoreErrorCode.failedPrecondition.rawValue)
            }
        }
    }
}

extension DocumentReference {
    /// Queues a set, and returns when it is in the queue.
    fileprivate func enqueue(_ data: [String: Int]) async throws {
        try await firestore.batch().setData(data, forDocument: self).enqueue()
    }
}
