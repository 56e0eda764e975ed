import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

extension OfflineTests {
    @Suite("Bundles of documents", .timeLimit(.minutes(10)))
    struct BundleTests {
        /// A bundle of two books and the query for one of them, as Firestore's server SDK for Node.js makes it.
        private static let bundle: Data = {
            let root = "projects/firestore-project/databases/(default)/documents"
            var elements = [
                """
                {"namedQuery":{"name":"long","bundledQuery":{"parent":"\(root)","structuredQuery":{"from":[{"collectionId":"books"}],\
                "where":{"fieldFilter":{"field":{"fieldPath":"pages"},"op":"GREATER_THAN","value":{"integerValue":"500"}}}},\
                "limitType":"FIRST"},"readTime":{"seconds":"1767323045","nanos":0}}}
                """
            ]
            for (id, pages, queries) in [("long", 816, #"["long"]"#), ("short", 200, "[]")] {
                elements.append(
                    """
                    {"documentMetadata":{"name":"\(root)/books/\(id)","readTime":{"seconds":"1767323045","nanos":0},"exists":true,\
                    "queries":\(queries)}}
                    """
                )
                elements.append(
                    """
                    {"document":{"name":"\(root)/books/\(id)","fields":{"pages":{"integerValue":"\(pages)"}},\
                    "createTime":{"seconds":"1767000000","nanos":0},"updateTime":{"seconds":"1767000000","nanos":0}}}
                    """
                )
            }
            let rest = elements.map { "\($0.utf8.count)\($0)" }.joined()
            let metadata = """
                {"metadata":{"id":"books","createTime":{"seconds":"1767323045","nanos":0},"version":1,"totalDocuments":2,\
                "totalBytes":"\(rest.utf8.count)"}}
                """
            return Data("\(metadata.utf8.count)\(metadata)\(rest)".utf8)
        }()

        @Test func `A bundle fills the cache, also without the server, and its queries have names`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                database.proxy.setRefusing(true)
                let progress = try await db.loadBundle(Self.bundle)
                #expect(progress.state == .success && progress.documentsLoaded == 2 && progress.totalDocuments == 2)
                #expect(progress.bytesLoaded == progress.totalBytes && progress.totalBytes > 500)
                let query = try #require(await db.getQuery(named: "long"))
                #expect(query == db.collection("books").whereField("pages", isGreaterThan: 500))
                let found = try await query.getDocuments(source: .cache)
                #expect(found.documents.map(\.documentID) == ["long"] && found.metadata.isFromCache)
                #expect(try await db.collection("books").getDocuments(source: .cache).count == 2)
                #expect(await db.getQuery(named: "none") == nil)
                let none: Query? = await withCheckedContinuation { continuation in
                    db.getQuery(named: "none") { continuation.resume(returning: $0) }
                }
                #expect(none == nil)
            }
        }

        @Test func `A stream is read to its end, and loaded once`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                #expect(try await db.loadBundle(InputStream(data: Self.bundle)).state == .success)
                // Of a bundle that is loaded, only the metadata are read.
                let again = try await db.loadBundle(Self.bundle.prefix(400))
                #expect(again.state == .success && again.documentsLoaded == 2 && again.bytesLoaded == again.totalBytes)
                await #expect(throws: FirestoreError.self) {
                    try await db.loadBundle(InputStream(url: URL(filePath: "/nonexistent/bundle")) ?? InputStream(data: Data()))
                }
            }
        }

        @Test func `Observers are told of each document and of the end`() async throws {
            try await withOfflineDatabase { database in
                let counts = Mutex<[Int]>([])
                let states = Mutex<[LoadBundleTaskState]>([])
                let (ends, end) = AsyncStream.makeStream(of: Bool.self)
                // Until the observers are there.
                let queue = database.firestore.settings.dispatchQueue
                queue.suspend()
                let task = database.firestore.loadBundle(Self.bundle) { progress, error in
                    end.yield(progress?.state == .success && error == nil)
                    end.finish()
                }
                task.addObserver { progress in
                    counts.withLock { $0.append(progress.documentsLoaded) }
                    states.withLock { $0.append(progress.state) }
                }
                let removed = task.addObserver { _ in Issue.record("The observer has been removed.") }
                task.removeObserverWith(handle: removed)
                queue.resume()
                for await isSuccess in ends { #expect(isSuccess) }
                #expect(states.withLock { $0.last } == .success && counts.withLock { $0.last } == 2)
                #expect(counts.withLock { $0.first == 0 && $0 == $0.sorted() })
                #expect(states.withLock { $0.first } == .inProgress)
                // One that comes late is told of the end.
                let late: LoadBundleTaskProgress = await withCheckedContinuation { continuation in
                    task.addObserver { continuation.resume(returning: $0) }
                }
                #expect(late.state == .success)
                task.removeAllObservers()
            }
        }

        @Test func `Nothing of a malformed bundle is loaded`() async throws {
            try await withOfflineDatabase { database in
                let db = database.firestore
                let error = await #expect(throws: FirestoreError.self) { try await db.loadBundle(Self.bundle.dropLast(1)) }
                #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
                #expect(error?.localizedDescription.contains("element 6 at byte") == true)
                let cached = try await db.collection("books").getDocuments(source: .cache)
                #expect(cached.isEmpty)
                #expect(await db.getQuery(named: "long") == nil)
                let state: LoadBundleTaskState = await withCheckedContinuation { continuation in
                    let task = db.loadBundle(Data("x".utf8)) { progress, error in
                        #expect(progress?.state == .error && error != nil)
                    }
                    task.addObserver { continuation.resume(returning: $0.state) }
                }
                #expect(state == .error)
            }
        }

        @Test func `A bundle in a persistent cache is there in the next run`() async throws {
            try await withTemporaryFolder { folder in
                let settings = PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: folder)
                try await withOfflineDatabase(settings) { database in
                    try await database.firestore.loadBundle(Self.bundle)
                    try await database.firestore.terminate()
                    let next = OfflineDatabase.firestore(port: database.proxy.port, settings)
                    let query = try #require(await next.getQuery(named: "long"))
                    #expect(try await query.getDocuments(source: .cache).documents.map(\.documentID) == ["long"])
                    // The server, which has no such document, decides.
                    #expect(try await query.getDocuments().isEmpty)
                    try await next.terminate()
                }
            }
        }

        @Test func `Without a cache, a bundle has no place`() async throws {
            try await withServer { server in
                let error = await #expect(throws: FirestoreError.self) { try await server.firestore.loadBundle(Self.bundle) }
                #expect(error?.code == FirestoreErrorCode.failedPrecondition.rawValue)
                #expect(await server.firestore.getQuery(named: "long") == nil)
            }
        }
    }
}
