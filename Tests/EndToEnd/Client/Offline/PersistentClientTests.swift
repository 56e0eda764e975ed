import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("The client with a persistent cache", .timeLimit(.minutes(10)))
    struct PersistentClientTests {
        /// Calls `body` with a server, a proxy to it and a folder for caches.
        private func withFolder(
            _ body: (EndToEndServer, CuttingProxy, PersistentCacheSettings, URL) async throws -> Void
        ) async throws {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
                    defer { proxy.stop() }
                    let caches = folder.appending(path: "caches")
                    try await body(server, proxy, Self.settings(caches), caches)
                }
            }
        }

        fileprivate static func settings(_ folder: URL) -> PersistentCacheSettings {
            PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: folder)
        }

        @Test func `A program begins with what it knew, and sends the writes of earlier runs in their order`() async throws {
            try await withFolder { server, proxy, settings, _ in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                for id in ["a", "b"] { _ = try await server.connection.set(DocumentPath("notes/\(id)"), ["n": .integer(1)]) }
                var snapshots = SnapshotReader(first.collection("notes").snapshots(includeMetadataChanges: true))
                _ = try await snapshots.next { !$0.metadata.isFromCache }
                try await first.terminate()

                proxy.setRefusing(true)
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                snapshots = SnapshotReader(second.collection("notes").snapshots(includeMetadataChanges: true))
                let cached = try await snapshots.next()
                #expect(cached.documents.map(\.documentID) == ["a", "b"] && cached.metadata.isFromCache)
                for number in 0..<15 {
                    try await second.batch().setData(["n": number], forDocument: second.document("notes/c")).enqueue()
                }
                try await second.batch().deleteDocument(second.document("notes/a")).enqueue()
                try await second.terminate()

                let third = OfflineDatabase.firestore(port: proxy.port, settings)
                let local = try await third.collection("notes").getDocuments(source: .cache)
                #expect(local.documents.map { $0.get("n") as? Int } == [1, 14] && local.metadata.hasPendingWrites)
                #expect(try await third.writeQueueStatus.count == 16)
                proxy.setRefusing(false)
                try await third.waitForPendingWrites()
                #expect(try await server.firestore.collection("notes").getDocuments().documents.map(\.documentID) == ["b", "c"])
                #expect(try await server.firestore.document("notes/c").getDocument().get("n") as? Int == 14)
                try await third.terminate()
            }
        }

        @Test func `Writes that are rejected in a later run are reported until the application has seen them`() async throws {
            try await withFolder { server, proxy, settings, _ in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                try await first.disableNetwork()
                first.document("notes/missing").updateData(["n": 1], completion: nil)
                try await eventually { try await first.writeQueueStatus.count == 1 }
                try await first.terminate()
                for run in 0..<2 {
                    let db = OfflineDatabase.firestore(port: proxy.port, settings)
                    try await db.waitForPendingWrites()
                    var rejected = db.rejectedWrites.makeAsyncIterator()
                    let writes = try #require(try await rejected.next())
                    #expect(writes.writes.map(\.document.path) == ["notes/missing"])
                    if run == 1 { writes.acknowledge() }
                    try await db.terminate()
                    #expect(try await rejected.next() == nil)
                }
                let last = OfflineDatabase.firestore(port: proxy.port, settings)
                let wait = Task { for try await _ in last.rejectedWrites { Issue.record("The writes are repeated.") } }
                try await last.document("notes/a").setData([:])
                try await last.terminate()
                try await wait.value
                #expect(try await server.connection.document(at: DocumentPath("notes/a")).path.string == "notes/a")
            }
        }

        @Test func `Several instances use one folder, and what one of them leaves behind another one sends`() async throws {
            try await withFolder { server, proxy, settings, _ in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                for (number, db) in [first, second].enumerated() {
                    try await db.disableNetwork()
                    try await db.batch().setData(["n": number], forDocument: db.document("notes/\(number)")).enqueue()
                }
                try await first.terminate()
                // The writes that the first one has left stay as well.
                let error = await #expect(throws: FirestoreError.self) {
                    try await OfflineDatabase.firestore(port: proxy.port, settings).clearPersistence()
                }
                #expect(error?.code == FirestoreErrorCode.failedPrecondition.rawValue)
                try await second.terminate()
                proxy.setRefusing(true)
                let third = OfflineDatabase.firestore(port: proxy.port, settings)
                let status = try await third.writeQueueStatus
                #expect(status.count == 2 && status.oldestWriteTime != nil && status.isPersistent && status.problem == nil)
                proxy.setRefusing(false)
                try await third.waitForPendingWrites()
                #expect(try await server.firestore.collection("notes").getDocuments().count == 2)
                #expect(try await third.writeQueueStatus.count == 0)
                try await third.terminate()
            }
        }

        @Test func `What was rejected in a queue that another process has left is reported, until the application has seen it`()
            async throws
        {
            try await withFolder { server, proxy, settings, _ in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                #expect(try await first.writeQueueStatus.count == 0)
                try await second.disableNetwork()
                for id in ["a", "b"] {
                    let update: [String: Any] = ["n": FieldValue.increment(Int64(1))]
                    try await second.batch().updateData(update, forDocument: second.document("notes/\(id)")).enqueue()
                }
                try await first.terminate()
                try await second.terminate()
                for expected in [["a", "b"], ["b"]] {
                    // Its own queue is the first one, which is empty.
                    let db = OfflineDatabase.firestore(port: proxy.port, settings)
                    var received: [RejectedWrites] = []
                    for try await writes in db.rejectedWrites {
                        #expect(writes.error.code == FirestoreErrorCode.notFound.rawValue)
                        received.append(writes)
                        if received.count == expected.count { break }
                    }
                    #expect(received.map { $0.writes.map(\.document.path) } == expected.map { ["notes/\($0)"] })
                    let last = try #require(received.first)
                    if expected.count > 1 {
                        last.acknowledge()
                    } else {
                        _ = try await server.connection.set(DocumentPath("notes/b"), ["n": .integer(0)])
                        for _ in 0..<2 { try await last.resend() }
                        try await eventually {
                            try await server.firestore.document("notes/b").getDocument().get("n") as? Int == 1
                        }
                    }
                    try await db.terminate()
                }
                let last = OfflineDatabase.firestore(port: proxy.port, settings)
                let wait = Task { for try await _ in last.rejectedWrites { Issue.record("The writes are repeated.") } }
                try await last.document("notes/c").setData([:])
                try await last.terminate()
                try await wait.value
                #expect(try await server.firestore.document("notes/b").getDocument().get("n") as? Int == 1)
            }
        }

        @Test func `A cleared cache knows nothing, and has no queue`() async throws {
            try await withFolder { _, proxy, settings, folder in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                try await first.document("notes/a").setData(["n": 1])
                try await first.disableNetwork()
                try await first.batch().setData(["n": 2], forDocument: first.document("notes/a")).enqueue()
                try await first.terminate()
                try await first.clearPersistence()
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                let missing = await #expect(throws: FirestoreError.self) {
                    try await second.document("notes/a").getDocument(source: .cache)
                }
                #expect(missing?.code == FirestoreErrorCode.unavailable.rawValue)
                #expect(try await second.writeQueueStatus.count == 0)
                try await second.terminate()
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
            }
        }

        @Test func `What one key may read is not shown to another`() async throws {
            try await withFolder { server, proxy, settings, folder in
                let first = OfflineDatabase.firestore(port: proxy.port, key: "fsk_11111111_secretsecret", settings)
                try await first.disableNetwork()
                try await first.batch().setData(["n": 1], forDocument: first.document("notes/a")).enqueue()
                let second = OfflineDatabase.firestore(port: proxy.port, key: "fsk_22222222_secretsecret", settings)
                let missing = await #expect(throws: FirestoreError.self) {
                    try await second.document("notes/a").getDocument(source: .cache)
                }
                #expect(missing?.code == FirestoreErrorCode.unavailable.rawValue)
                try await first.terminate()
                try await second.terminate()
                let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                #expect(!names.isEmpty && names.allSatisfy { !$0.contains("secret") })
                #expect(try await server.connection.serverInformation().version.isEmpty == false)
            }
        }

        @Test func `Without a usable folder, the cache is in memory`() async throws {
            try await withFolder { server, proxy, _, folder in
                try Data("no folder".utf8).write(to: folder)
                let db = OfflineDatabase.firestore(port: proxy.port, Self.settings(folder))
                try await db.document("notes/a").setData(["n": 1])
                #expect(try await server.firestore.document("notes/a").getDocument().get("n") as? Int == 1)
                let status = try await db.writeQueueStatus
                #expect(!status.isPersistent && status.problem != nil)
                try await db.terminate()
            }
        }

        @Test func `A queue that is in memory for lack of a usable folder is sent before the database goes away`() async throws {
            try await withFolder { server, proxy, _, folder in
                try Data("no folder".utf8).write(to: folder)
                do {
                    let db = OfflineDatabase.firestore(port: proxy.port, Self.settings(folder))
                    try await db.disableNetwork()
                    try await db.batch().setData(["n": 1], forDocument: db.document("notes/a")).enqueue()
                }
                try await eventually { try await server.firestore.document("notes/a").getDocument().exists }
            }
        }

        @Test func `Files that a newer version has written stay as they are, and the queue is kept beside them`() async throws {
            try await withFolder { server, proxy, settings, folder in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                try await first.document("notes/a").setData(["n": 1])
                try await first.terminate()
                let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                let queue = folder.appending(path: try #require(files.first { $0.hasSuffix("/queue.sqlite") }))
                var bytes = try Data(contentsOf: queue)
                // The format, in the header of an SQLite file.
                bytes.replaceSubrange(60..<64, with: [0x7f, 0, 0, 0])
                try bytes.write(to: queue)
                for run in 0..<2 {
                    proxy.setRefusing(true)
                    let db = OfflineDatabase.firestore(port: proxy.port, settings)
                    if run == 0 { try await db.batch().setData(["n": 2], forDocument: db.document("notes/a")).enqueue() }
                    let status = try await db.writeQueueStatus
                    #expect(status.isPersistent && status.count == 1)
                    #expect(status.problem?.code == FirestoreErrorCode.failedPrecondition.rawValue)
                    if run == 1 {
                        proxy.setRefusing(false)
                        try await db.waitForPendingWrites()
                    }
                    try await db.terminate()
                }
                #expect(try await server.firestore.document("notes/a").getDocument().get("n") as? Int == 2)
                #expect(try Data(contentsOf: queue) == bytes)
            }
        }

        @Test func `A rejection of which the caller was told is not repeated by a later run`() async throws {
            try await withFolder { _, proxy, settings, _ in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                await #expect(throws: FirestoreError.self) { try await first.document("notes/missing").updateData(["n": 1]) }
                let told = Mutex(false)
                first.document("notes/missing").updateData(["n": 2]) { _ in told.withLock { $0 = true } }
                try await eventually { told.withLock(\.self) }
                // A call, so that the end of the completion is not overtaken.
                try await first.document("notes/a").setData([:])
                try await first.terminate()
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                let wait = Task { for try await _ in second.rejectedWrites { Issue.record("The writes are repeated.") } }
                try await second.document("notes/a").setData([:])
                try await second.terminate()
                try await wait.value
            }
        }

        @Test func `A damaged cache is set aside, and the queue stays`() async throws {
            try await withFolder { server, proxy, settings, folder in
                let first = OfflineDatabase.firestore(port: proxy.port, settings)
                try await first.document("notes/a").setData(["n": 1])
                try await first.disableNetwork()
                try await first.batch().setData(["n": 2], forDocument: first.document("notes/a")).enqueue()
                try await first.terminate()
                let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                let cache = folder.appending(path: try #require(files.first { $0.hasSuffix("/cache.sqlite") }))
                try Data(repeating: 7, count: 50_000).write(to: cache)
                let second = OfflineDatabase.firestore(port: proxy.port, settings)
                try await second.waitForPendingWrites()
                let status = try await second.writeQueueStatus
                #expect(status.isPersistent && status.problem?.code == FirestoreErrorCode.dataLoss.rawValue)
                #expect(try await server.firestore.document("notes/a").getDocument().get("n") as? Int == 2)
                try await second.terminate()
            }
        }
    }
}

extension OfflineTests {
    @Suite("A client that is killed", .tags(.crash, .slow), .timeLimit(.minutes(10)))
    struct KilledClientTests {
        /// Queues writes until the process is killed, and records in a file how many are in the queue.
        private static func work(in folder: String, port: Int, round: Int, milliseconds: Int) async throws {
            let log = open(folder + "/queued\(round)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let db = OfflineDatabase.firestore(port: port, PersistentClientTests.settings(URL(filePath: folder)))
            var number: UInt64 = 0
            while true {
                let batch = db.batch()
                let increment: [String: Any] = ["n": FieldValue.increment(Int64(1))]
                batch.setData(increment, forDocument: db.document("counters/all"), merge: true)
                batch.setData(increment, forDocument: db.document("marks/\(round)-\(number)"), merge: true)
                try await batch.enqueue()
                number += 1
                if number == 1 {
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { kill(getpid(), SIGKILL) }
                }
                _ = withUnsafeBytes(of: number) { pwrite(log, $0.baseAddress, $0.count, 0) }
            }
        }

        @Test func `Every write that was in the queue is made once`() async throws {
            try await withTemporaryFolder { folder in
                try await withServer { server in
                    let port = try #require(URL(string: server.address)?.port)
                    var random = SeededGenerator()
                    let rounds = 5
                    for round in 0..<rounds {
                        let milliseconds = Int.random(in: 0...900, using: &random)
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [
                                path = folder.path as String, port = port as Int, round = round as Int,
                                milliseconds = milliseconds as Int
                            ] in
                            try await Self.work(in: path, port: port, round: round, milliseconds: milliseconds)
                        }
                    }
                    let db = OfflineDatabase.firestore(port: port, PersistentClientTests.settings(folder))
                    try await db.waitForPendingWrites()
                    try await db.terminate()
                    let marks = try await server.firestore.collection("marks").getDocuments().documents
                    let ids = Set(marks.map(\.documentID))
                    #expect(marks.allSatisfy { $0.get("n") as? Int == 1 }, "seed \(random.seed)")
                    let counter = try await server.firestore.document("counters/all").getDocument()
                    #expect(counter.get("n") as? Int == marks.count, "seed \(random.seed)")
                    var total = 0
                    for round in 0..<rounds {
                        let log = try [UInt8](Data(contentsOf: folder.appending(path: "queued\(round)")))
                        let count = log.reversed().reduce(0) { $0 << 8 | Int($1) }
                        total += count
                        #expect((0..<count).allSatisfy { ids.contains("\(round)-\($0)") }, "seed \(random.seed)")
                    }
                    #expect(total > 0)
                }
            }
        }
    }
}
