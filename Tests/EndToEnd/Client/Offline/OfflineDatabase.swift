import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

/// The tests of clients with a local cache, one after the other, since many of them keep the processors busy.
@Suite("Offline", .serialized)
enum OfflineTests {}

/// A database with a local cache, whose connections to the server go through a proxy.
struct OfflineDatabase: Sendable {
    let server: EndToEndServer
    let proxy: CuttingProxy
    let firestore: Firestore

    init(_ server: EndToEndServer, key: String? = nil, _ cacheSettings: (any LocalCacheSettings)? = MemoryCacheSettings()) throws
    {
        self.server = server
        proxy = try CuttingProxy(to: try #require(URL(string: server.address)?.port))
        firestore = Self.firestore(port: proxy.port, key: key, cacheSettings)
    }

    /// Returns another database behind the proxy.
    static func firestore(
        port: Int,
        key: String? = nil,
        _ cacheSettings: (any LocalCacheSettings)? = MemoryCacheSettings()
    ) -> Firestore {
        let settings = FirestoreSettings()
        settings.host = "127.0.0.1:\(port)"
        settings.isSSLEnabled = false
        settings.key = key
        settings.cacheSettings = cacheSettings
        settings.dispatchQueue = DispatchQueue(label: "callbacks")
        return Firestore(settings: settings)
    }

    /// Returns the fields of a document on the server; `nil` if it does not exist.
    func serverFields(_ path: String) async throws -> MapValue? {
        do throws(StatusError) {
            return try await server.connection.document(at: DocumentPath(path)).decoded().fields
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}

/// Calls `body` with a database with a local cache, or with none.
func withOfflineDatabase(
    _ cacheSettings: (any LocalCacheSettings)? = MemoryCacheSettings(),
    _ body: (OfflineDatabase) async throws -> Void
) async throws {
    try await withServer { server in
        let database = try OfflineDatabase(server, cacheSettings)
        defer { database.proxy.stop() }
        try await body(database)
        try await database.firestore.terminate()
    }
}

/// The next snapshots of a listener.
struct SnapshotReader<Snapshot: Sendable> {
    private var iterator: SnapshotSequence<Snapshot>.Iterator

    init(_ snapshots: SnapshotSequence<Snapshot>) {
        iterator = snapshots.makeAsyncIterator()
    }

    mutating func next() async throws -> Snapshot {
        try #require(try await iterator.next())
    }

    /// Returns whether there are no more snapshots.
    mutating func end() async throws -> Bool {
        try await iterator.next() == nil
    }

    /// Returns the first of the next snapshots for which a condition holds.
    mutating func next(where condition: (Snapshot) -> Bool) async throws -> Snapshot {
        while true {
            let snapshot = try await next()
            if condition(snapshot) { return snapshot }
        }
    }
}
