import DocumentModel
import Foundation
import HearthClient

extension CommitHistory {
    /// Compares the API, the files and the watch streams of a server with each other and with this history. There must be no
    /// concurrent writes.
    ///
    /// - Parameter disk: Whether to check the files, which may be outdated while a fault is active.
    /// - Returns: The state shown by the API, and all violations.
    func check(_ server: CrashServer, data: URL, disk: Bool = true) async throws -> (StoreSnapshot, violations: [String]) {
        let snapshot = try await StoreSnapshot(server.connection)
        var violations = violations(in: snapshot)
        if disk {
            let contents = try DataFolderContents(of: data)
            violations += contents.damaged
            // Outside of documents/, a checkpoint can be in progress.
            violations += contents.temporaries.filter { $0.hasPrefix("documents/") }.map {
                "the temporary file \($0) was not removed"
            }
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
        _ source: String
    ) -> [String] {
        Set(found.keys).union(expected.keys).sorted().filter { found[$0] != expected[$0] }
            .map { "\($0) differs between \(source) and the API" }
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
