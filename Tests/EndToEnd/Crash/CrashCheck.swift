import DocumentModel
import Foundation
import HearthClient

extension CommitHistory {
    /// Compares what a server shows over the API, its files, and what a new watcher is shown, with each other and with this
    /// history. Nobody may write meanwhile.
    ///
    /// - Parameter disk: Whether the files must be right too: not while the server works around a fault.
    /// - Returns: What the server shows, and everything that can't be.
    func check(_ server: CrashServer, data: URL, disk: Bool = true) async throws -> (StoreSnapshot, violations: [String]) {
        let snapshot = try await StoreSnapshot(server.connection)
        var violations = violations(in: snapshot)
        if disk {
            let contents = try DiskContents(of: data)
            violations += contents.damaged
            // Outside the documents' folder a checkpoint may be replacing a file just now.
            violations += contents.temporaries.filter { $0.hasPrefix("documents/") }.map { "\($0) was left behind" }
            violations += Self.differences(contents.documents, snapshot.documents, "the files")
        }
        var watched: [DocumentPath: StoreSnapshot.Version] = [:]
        for collection in Set(snapshot.documents.keys.map(\.collection)) {
            watched.merge(try await Self.watched(collection, server.connection)) { $1 }
        }
        violations += Self.differences(watched, snapshot.documents, "a watcher")
        return (snapshot, violations)
    }

    private static func differences(
        _ found: [DocumentPath: StoreSnapshot.Version],
        _ expected: [DocumentPath: StoreSnapshot.Version],
        _ who: String
    ) -> [String] {
        Set(found.keys).union(expected.keys).sorted().filter { found[$0] != expected[$0] }
            .map { "\($0) is another for \(who) than for a reader" }
    }

    private static func watched(
        _ collection: CollectionPath,
        _ connection: HearthConnection
    ) async throws -> [DocumentPath: StoreSnapshot.Version] {
        var documents: [DocumentPath: StoreSnapshot.Version] = [:]
        for try await frame in try await connection.watch(.collection(collection)) {
            if frame.kind == .current { break }
            if let document = try frame.document() { documents[document.path] = StoreSnapshot.Version(try document.decoded()) }
        }
        return documents
    }
}
