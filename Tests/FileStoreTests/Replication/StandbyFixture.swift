import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

/// A primary in the folder `data`, and standbys beside it.
struct StandbyFixture {
    var store: StoreFixture

    init() throws {
        store = try StoreFixture()
        // So that a snapshot has commits to replay.
        store.configuration.checkpointDocuments = 10
    }

    /// Copies a store to a folder, as a standby does. The snapshot is installed when the folder is opened.
    ///
    /// - Parameter afterPart: Called after each group of parts.
    func copy(
        _ primary: FileStore,
        to relative: String,
        afterParts: () async throws -> Void = {}
    ) async throws -> SequenceNumber? {
        let path = store.folder[relative]
        let receiver = try StandbyDataFolder.makeReceiver(inFolder: path)
        let snapshot = try FileStoreSnapshot(of: primary)
        while let parts = try await snapshot.next() {
            for part in parts { try await receiver.write(part) }
            try await afterParts()
        }
        try await receiver.finish()
        try StandbyDataFolder.install(inFolder: path)
        return await snapshot.lastSequence
    }

    /// Opens a standby.
    func openStandby(at relative: String) async throws -> FileStore {
        var configuration = store.configuration
        configuration.folder = store.folder[relative]
        configuration.primary = "http://primary"
        return try await FileStore.open(configuration, logger: .silent)
    }

    static func set(_ path: String, _ number: Int64, in store: FileStore) async throws {
        let write = try Write.set(DocumentPath(path), ["n": .integer(number)])
        _ = try await store.commit([write], validating: ReadSet(), by: nil)
    }

    static func number(_ path: String, in store: FileStore, readTime: Timestamp? = nil) async throws -> Value? {
        try await store.document(at: DocumentPath(path), readTime: readTime)?.decoded().fields["n"]
    }

    /// Returns the commits of a store after one.
    static func commits(of store: FileStore, after sequence: SequenceNumber) async throws -> [Commit] {
        var (found, position) = ([Commit](), sequence)
        while position < store.position.lastSequence, let page = try await store.commits(after: position).firstBatch() {
            found += page
            position = page.last?.sequence ?? position
        }
        return found
    }
}
