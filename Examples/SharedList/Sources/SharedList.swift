import Foundation
import HearthClient

/// A shopping list that several people, and several programs, share. It works without the server, too.
///
/// The code is that of an app with Cloud Firestore, apart from `enqueue()`, `writeQueueStatus` and `rejectedWrites`.
struct SharedList {
    /// An item of the list, as a document.
    struct Item: Codable {
        @DocumentID var id: String?
        var text: String
        var isDone = false
        /// Set by the server, so that all see the items in the same order.
        @ServerTimestamp var createdAt: Timestamp?
    }

    let db: Firestore

    var items: CollectionReference { db.collection("lists").document("shopping").collection("items") }

    /// Opens the database of the server in `HEARTH_SERVER`, with a cache on disk.
    init(cache folder: URL?) {
        let settings = FirestoreSettings()
        settings.cacheSettings = PersistentCacheSettings(sizeBytes: 100_000_000, folder: folder)
        db = Firestore(settings: settings)
    }

    // MARK: Changing the list

    /// Adds an item. The write is in the queue on disk when this returns, whether the server can be reached or not.
    func add(_ text: String) async throws {
        let batch = db.batch()
        try batch.setData(from: Item(text: text), forDocument: items.document())
        try await batch.enqueue()
    }

    /// Marks the items with a text as done. The text tells which ones, should the server refuse the change.
    func finish(_ text: String) async throws -> Int {
        try await change(text) { batch, item in batch.updateData(["isDone": true, "text": text], forDocument: item) }
    }

    /// Removes the items with a text.
    func remove(_ text: String) async throws -> Int {
        try await change(text) { batch, item in batch.deleteDocument(item) }
    }

    /// Changes all items with a text in one batch. Returns their number.
    private func change(_ text: String, _ write: (WriteBatch, DocumentReference) -> Void) async throws -> Int {
        let found = try await items.whereField("text", isEqualTo: text).getDocuments()
        let batch = db.batch()
        for item in found.documents { write(batch, item.reference) }
        try await batch.enqueue()
        return found.count
    }

    // MARK: Reading the list

    private var sortedItems: Query { items.order(by: "createdAt") }

    /// Returns the list as text: the server's or, without it, the cached one.
    func show() async throws -> String {
        try await Self.text(of: sortedItems.getDocuments())
    }

    /// Calls `show` with the list as text, now and after every change here or elsewhere, until the task is cancelled.
    func watch(_ show: (String) -> Void) async throws {
        // With metadata changes, to learn when the server has got what was changed here.
        for try await snapshot in sortedItems.snapshots(includeMetadataChanges: true) {
            show(try Self.text(of: snapshot))
        }
    }

    /// Returns a line for each item. A trailing "…" means that the server does not have the item as it is shown.
    private static func text(of snapshot: QuerySnapshot) throws -> String {
        var lines = try snapshot.documents.map { document in
            let item = try document.data(as: Item.self)
            return (item.isDone ? "☑ " : "☐ ") + item.text + (document.metadata.hasPendingWrites ? " …" : "")
        }
        if snapshot.isEmpty { lines.append("Nothing to buy.") }
        if snapshot.metadata.isFromCache { lines.append("(as far as known here: the server cannot be reached)") }
        return lines.joined(separator: "\n")
    }

    // MARK: The queue

    /// Waits until the server has answered all writes, or for the given time.
    func synchronize(within time: Duration) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { [db] in try await db.waitForPendingWrites() }
            group.addTask { try await Task.sleep(for: time) }
            try await group.next()
            // The writes stay in the queue, and are sent by the next run.
            group.cancelAll()
        }
    }

    /// Returns the state of the queue as text.
    func status() async throws -> String {
        let status = try await db.writeQueueStatus
        guard let oldest = status.oldestWriteTime else { return "The server has all changes." }
        var text = "\(status.count) changes wait for the server, the first one since \(oldest.dateValue().formatted(.iso8601))."
        if let error = status.lastError { text += "\nThe last attempt failed: \(error.localizedDescription)" }
        return text
    }

    /// The changes that the server refuses while nobody waits, from now on until the database is terminated.
    ///
    /// Changes that were refused in earlier runs come first, until they have been acknowledged.
    var refusals: AsyncThrowingStream<RejectedWrites, any Error> { db.rejectedWrites }

    /// Calls `show` with each refused change, as text.
    func watch(
        _ refusals: AsyncThrowingStream<RejectedWrites, any Error>,
        areSeen: Bool,
        _ show: (String) -> Void
    ) async throws {
        for try await rejected in refusals {
            let texts = rejected.writes.map { $0.data()["text"] as? String ?? $0.document.documentID }
            show("Refused: \(texts.joined(separator: ", ")). \(rejected.error.localizedDescription)")
            if areSeen { rejected.acknowledge() }
        }
    }
}
