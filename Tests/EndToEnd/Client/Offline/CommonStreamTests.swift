import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("The common stream of listeners", .timeLimit(.minutes(10)))
    struct CommonStreamTests {
        /// No cache, and one.
        private static let caches = [nil, MemoryCacheSettings()]

        @Test(arguments: caches)
        func `A client uses one stream of the server, however many listeners it has`(_ cache: MemoryCacheSettings?) async throws {
            try await withServer(arguments: ["--watchers", "1"]) { server in
                let database = try OfflineDatabase(server, cache)
                defer { database.proxy.stop() }
                let (db, owner) = (database.firestore, server.firestore)
                let batch = owner.batch()
                for number in 0..<300 { batch.setData(["n": number], forDocument: owner.document("lists/\(number)")) }
                try await batch.commit()
                // More than one request takes.
                var readers = (0..<300).map { SnapshotReader(db.document("lists/\($0)").snapshots) }
                for number in 0..<300 {
                    #expect(try await readers[number].next { !$0.metadata.isFromCache }.get("n") as? Int == number)
                }
                let large = db.collection("lists").whereField("n", isGreaterThan: 290)
                var late = SnapshotReader(large.snapshots(includeMetadataChanges: true))
                #expect(try await late.next { !$0.metadata.isFromCache }.count == 9)
                #expect(try await server.watcherCount == 1)
                try await owner.document("lists/295").setData(["n": 1_000])
                #expect(try await readers[295].next().get("n") as? Int == 1_000)
                #expect(try await late.next { $0.documents.last?.get("n") as? Int == 1_000 }.count == 9)
                try await db.terminate()
                try await owner.terminate()
            }
        }

        /// The sum of the accounts is the same after each commit.
        @Test(arguments: caches)
        func `When snapshots are in sync, all listeners show the same commit`(_ cache: MemoryCacheSettings?) async throws {
            try await withOfflineDatabase(cache) { database in
                let (db, owner) = (database.firestore, database.server.firestore)
                for id in 0..<4 { try await owner.document("accounts/\(id)").setData(["balance": 100]) }
                let shown = Mutex<(balances: [Int: Int], sums: [Int])>(([:], []))
                let registrations = (0..<4).map { id in
                    db.document("accounts/\(id)").addSnapshotListener { snapshot, _ in
                        guard let balance = snapshot?.get("balance") as? Int else { return }
                        shown.withLock { $0.balances[id] = balance }
                    }
                }
                try await eventually { shown.withLock(\.balances.count) == 4 }
                let sync = db.addSnapshotsInSyncListener {
                    shown.withLock { $0.sums.append($0.balances.values.reduce(0, +)) }
                }
                for round in 1...40 {
                    let batch = owner.batch()
                    for (id, amount) in [(round % 4, -round), ((round + 1) % 4, round)] {
                        batch.updateData(
                            ["balance": FieldValue.increment(Int64(amount))],
                            forDocument: owner.document("accounts/\(id)")
                        )
                    }
                    try await batch.commit()
                }
                let expected = try await owner.collection("accounts").getDocuments().documents.map { $0.get("balance") as? Int }
                try await eventually { shown.withLock { shown in (0..<4).map { shown.balances[$0] } == expected } }
                try await eventually { shown.withLock(\.sums.count) > 1 }
                #expect(shown.withLock { Set($0.sums) } == [400])
                for registration in registrations { registration.remove() }
                sync.remove()
                try await owner.terminate()
            }
        }

        @Test(arguments: caches)
        func `A listener that the server rejects ends alone`(_ cache: MemoryCacheSettings?) async throws {
            try await withServer { server in
                _ = try await hearth("keys", "create", "--role", "admin", "--data", server.folder.path)
                let made = try await hearth(
                    "keys",
                    "create",
                    "--role",
                    "reader",
                    "--collection",
                    "open",
                    "--data",
                    server.folder.path
                )
                let key = try #require(made.output.first)
                let database = try OfflineDatabase(server, key: key, cache)
                defer { database.proxy.stop() }
                let db = database.firestore
                var open = SnapshotReader(db.collection("open").snapshots)
                #expect(try await open.next().isEmpty)
                await #expect(throws: FirestoreError.self) {
                    for try await _ in db.collection("closed").snapshots {}
                }
                // The stream of the other listener goes on.
                var again = SnapshotReader(db.document("open/a").snapshots)
                #expect(try await !again.next().exists)
                try await db.terminate()
            }
        }

        @Test(arguments: caches)
        func `Listeners come and go while the stream is cut, and show what the server has in the end`(
            _ cache: MemoryCacheSettings?
        ) async throws {
            try await withOfflineDatabase(cache) { database in
                let (db, owner) = (database.firestore, database.server.firestore)
                for number in 0..<20 { try await owner.document("items/\(number)").setData(["n": number]) }
                for round in 0..<12 {
                    var all = SnapshotReader(db.collection("items").snapshots)
                    let largest = db.collection("items").order(by: "n", descending: true).limit(to: 3)
                    var few = SnapshotReader(largest.snapshots(includeMetadataChanges: true))
                    database.proxy.cutNext(responseBytes: round * 97)
                    try await owner.document("items/0").setData(["n": 100 + round])
                    #expect(try await all.next { $0.documents.contains { $0.get("n") as? Int == 100 + round } }.count == 20)
                    #expect(
                        try await few.next { $0.documents.first?.get("n") as? Int == 100 + round && !$0.metadata.isFromCache }
                            .documents.compactMap { $0.get("n") as? Int } == [100 + round, 19, 18]
                    )
                }
                try await owner.terminate()
            }
        }
    }
}

extension EndToEndServer {
    /// The number of open watch streams.
    fileprivate var watcherCount: Int? {
        get async throws {
            let information = try await connection.call("server.info") { _ in }
            guard case .integer(let count)? = information["watchers"]?.number else { return nil }
            return Int(count)
        }
    }
}
