import DocumentModel
import DocumentStore

/// A scan of a collection in ID order, in batches with a bounded number of bytes.
struct CollectionScan: Sendable {
    private let store: any DocumentStore
    private let collection: CollectionPath
    private let includingMissing: Bool
    /// The point in time to read at, or `nil` for the latest state.
    private let readTime: Timestamp?
    /// The ID that the next batch begins after, or `nil` at the start.
    private(set) var position: DocumentPath.ID?
    private(set) var isAtEnd = false
    /// The average entry size in the last batch, which determines the size of the next batch.
    private var averageEntryBytes = 64 << 10

    /// The target size of a batch in bytes.
    private static let targetBatchBytes = 2 << 20

    init(
        _ collection: CollectionPath,
        after position: DocumentPath.ID?,
        includingMissing: Bool,
        readTime: Timestamp? = nil,
        in store: any DocumentStore
    ) {
        self.store = store
        self.collection = collection
        self.includingMissing = includingMissing
        self.readTime = readTime
        self.position = position
    }

    /// Returns the next batch of at most `count` entries.
    mutating func nextBatch(limit count: Int) async throws(StatusError) -> DocumentPage {
        let page = try await store.documents(
            in: collection,
            after: position,
            limit: min(count, max(1, Self.targetBatchBytes / averageEntryBytes)),
            includingMissing: includingMissing,
            readTime: readTime
        )
        if !page.documents.isEmpty {
            averageEntryBytes = max(256, page.documents.reduce(0) { $0 + $1.byteCount } / page.documents.count)
        }
        position = page.next
        isAtEnd = page.next == nil
        return page
    }
}

extension ListedDocument {
    /// The approximate size of the entry in memory and in a response.
    var byteCount: Int {
        switch self {
        case .document(let document): document.fieldsJSON.count + document.path.string.utf8.count + 128
        case .missing(let path): path.string.utf8.count + 16
        }
    }
}
