import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import Testing
import UTF8Text

@testable import HearthTransport

/// The collection `books` of a server as a listener, queries and the history show it.
struct ObservedCollection {
    private let server: EndToEndServer
    private let db: Firestore
    private var snapshots: SnapshotSequence<QuerySnapshot>.AsyncIterator
    /// The titles of the last snapshot, by ID.
    private var titles: [String: String] = [:]

    init(on server: EndToEndServer) {
        self.server = server
        db = server.firestore
        snapshots = db.collection("books").snapshots.makeAsyncIterator()
    }

    func end() async throws {
        try await db.terminate()
    }

    /// Waits until the listener has the titles, and expects the same of queries and of the history of the documents that have changed.
    mutating func expect(_ expected: [String: String], after action: String) async throws {
        let old = titles
        repeat {
            let snapshot = try #require(try await snapshots.next(), "\(action)")
            titles = Dictionary(
                uniqueKeysWithValues: snapshot.documents.map { ($0.documentID, $0.get("title") as? String ?? "") }
            )
        } while titles != expected
        for title in Set(expected.values) {
            let found = try await db.collection("books").whereField("title", isEqualTo: title).getDocuments()
            #expect(Set(found.documents.map(\.documentID)) == Set(expected.filter { $0.value == title }.keys), "\(action)")
        }
        for id in Set(old.keys).union(expected.keys) where old[id] != expected[id] {
            let newest = try await history(of: id).first
            #expect(newest?["document"]?["fields"]?["title"]?.string == expected[id], "\(action): \(id)")
        }
    }

    /// Returns the versions of a document, newest first.
    func history(of id: String) async throws -> [JSONNode] {
        let result = try await server.connection.call("documents.history") { params in
            params.key("path")
            params.string("books/\(id)")
        }
        return result["versions"]?.elements.map { Array($0) } ?? []
    }
}
