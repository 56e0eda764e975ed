import DocumentModel
import DocumentStore

/// Reads through a collection in ID order, in steps whose bytes stay within bounds however large the documents are.
struct CollectionScan: Sendable {
    private let store: any DocumentStore
    private let collection: CollectionPath
    private let includingMissing: Bool
    /// The time that it shows; nil for now.
    private let readTime: Timestamp?
    /// Where the next step begins; nil at the beginning.
    private(set) var position: DocumentID?
    private(set) var isAtEnd = false
    /// What an entry took on average in the last step, to choose the next one's size by.
    private var entryBytes = 64 << 10

    /// How many bytes a step aims at.
    private static let stepBytes = 2 << 20

    init(
        _ collection: CollectionPath,
        after position: DocumentID?,
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

    /// The next entries, at most `count` of them.
    mutating func next(atMost count: Int) async throws(StatusError) -> DocumentPage {
        let page = try await store.documents(
            in: collection,
            after: position,
            limit: min(count, max(1, Self.stepBytes / entryBytes)),
            includingMissing: includingMissing,
            readTime: readTime
        )
        if !page.documents.isEmpty {
            entryBytes = max(256, page.documents.reduce(0) { $0 + $1.byteCount } / page.documents.count)
        }
        position = page.next
        isAtEnd = page.next == nil
        return page
    }
}

extension ListedDocument {
    /// About how many bytes the entry takes in memory and in a response.
    var byteCount: Int {
        switch self {
        case .document(let document): document.fieldsJSON.count + document.path.string.utf8.count + 128
        case .missing(let path): path.string.utf8.count + 16
        }
    }
}
