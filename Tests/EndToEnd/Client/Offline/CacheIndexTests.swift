import Foundation
import HearthClient
import TestSupport
import Testing

extension OfflineTests {
    @Suite("Indexes of a persistent cache", .timeLimit(.minutes(10)))
    struct CacheIndexTests {
        /// The end of the definition of the index of the tests' query in the file.
        private static let definition = #""orderBy":[{"field":"even"},{"field":"n"},{"field":"__name__"}]}"#

        private func hasIndex(in folder: URL) throws -> Bool {
            let name = try #require(
                try FileManager.default.subpathsOfDirectory(atPath: folder.path).first { $0.hasSuffix("cache.sqlite") }
            )
            return try Data(contentsOf: folder.appending(path: name)).range(of: Data(Self.definition.utf8)) != nil
        }

        @Test func `Indexes are made on demand, and removed, and results are the same`() async throws {
            try await withTemporaryFolder { folder in
                let settings = PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: folder)
                try await withOfflineDatabase(settings) { database in
                    let batch = database.firestore.batch()
                    for n in 0..<150 {
                        let document = database.firestore.document("notes/\(n)")
                        batch.setData(["n": n, "even": n.isMultiple(of: 2)], forDocument: document)
                    }
                    try await batch.commit()
                    var results: [[Int]] = []
                    for step in 0..<4 {
                        let db = step == 0 ? database.firestore : OfflineDatabase.firestore(port: database.proxy.port, settings)
                        let manager = try #require(db.persistentCacheIndexManager)
                        if step == 1 { manager.enableIndexAutoCreation() }
                        if step == 2 { manager.disableIndexAutoCreation() }
                        if step == 3 { manager.deleteAllIndexes() }
                        try await db.disableNetwork()
                        let own = db.document("notes/own")
                        try await db.batch().setData(["n": 1_000 + step, "even": true], forDocument: own).enqueue()
                        let query = db.collection("notes").whereField("even", isEqualTo: true)
                            .order(by: "n", descending: true)
                        for _ in 0..<2 {
                            let found = try await query.limit(to: 3).getDocuments(source: .cache)
                            results.append(found.documents.compactMap { $0.get("n") as? Int })
                        }
                        try await db.terminate()
                        // A removed index may have left its definition in an unused page.
                        if step < 3 { #expect(try hasIndex(in: folder) == (step > 0)) }
                    }
                    #expect(results == (0..<4).flatMap { [[1_000 + $0, 148, 146], [1_000 + $0, 148, 146]] })
                }
            }
        }

        @Test func `Only a persistent cache has a manager of indexes`() async throws {
            try await withOfflineDatabase { #expect($0.firestore.persistentCacheIndexManager == nil) }
            #expect(Firestore(settings: FirestoreSettings()).persistentCacheIndexManager == nil)
        }
    }
}
