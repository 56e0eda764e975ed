import Foundation
import HearthClient
import Logging

// Examples of the documentation; see MappingSnippets.

enum OfflineSnippets {
    static func open() -> Firestore {
        let settings = FirestoreSettings()
        settings.cacheSettings = PersistentCacheSettings()
        let db = Firestore(settings: settings)
        return db
    }

    static func queue(_ task: DocumentReference, in db: Firestore) async throws {
        try await db.batch().setData(["done": true], forDocument: task).enqueue()
    }

    static func index(_ db: Firestore) {
        db.persistentCacheIndexManager?.enableIndexAutoCreation()
    }

    static func load(_ bundle: Data, into db: Firestore, _ show: (QuerySnapshot) -> Void) async throws {
        try await db.loadBundle(bundle)
        if let query = await db.getQuery(named: "latest-books") {
            show(try await query.getDocuments(source: .cache))
        }
    }

    static func reportRejections(_ db: Firestore, to logger: Logger) async throws {
        for try await rejected in db.rejectedWrites {
            logger.warning("\(rejected.writes.map(\.document.path)): \(rejected.error)")
            rejected.acknowledge()
        }
    }

    static func follow(_ document: DocumentReference, _ showSpinner: (Bool) -> Void) async throws {
        for try await snapshot in document.snapshots(includeMetadataChanges: true) {
            showSpinner(snapshot.metadata.hasPendingWrites)
        }
    }
}
