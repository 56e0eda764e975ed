internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import Synchronization

/// The entries and the documents of an ``EngineSnapshot``, as the index and the documents of a query.
///
/// Entries are those of the last commit. A query as of a time takes them too, and evaluates the documents that were changed since as
/// they were (``QueryDocuments``). It uses the names alone, as of that time, when many documents were changed since, and so do queries
/// while the first backfill of the database runs: fields have no index then.
///
/// Rows come in batches. When a query reads the document of a row, those of the next rows are read with it, so that a query needs
/// few round trips.
final class EngineIndex: QueryIndex, QueryDocuments {
    /// The view of the documents.
    let snapshot: EngineSnapshot
    /// The view of the entries: that of the last commit, if fields are indexed.
    let rows: EngineSnapshot
    let fields: FieldIDs
    private let progress: IndexProgress
    private let isIndexed: Bool
    private let cancellation: Cancellation
    /// The rows that a query is likely to ask for next.
    weak var lookahead: (any NameLookahead)?
    /// The document of the current row of a scan by name.
    var current: EncodedDocument?
    private var prefetch = DocumentPrefetch()
    /// The documents that were changed after the time.
    private var changed: Set<DocumentPath> = []
    private(set) var readCount = 0

    /// The number of later changes up to which a query as of a time uses the entries.
    private static let maximumChangeCount = 10_000

    /// A note that the task of a query was cancelled.
    final class Cancellation: Sendable {
        private let isCancelled = Atomic(false)

        func cancel() {
            isCancelled.store(true, ordering: .relaxed)
        }

        func check() throws(StatusError) {
            if isCancelled.load(ordering: .relaxed) { throw StatusError(.cancelled, "The query was cancelled.") }
        }
    }

    init(_ snapshot: EngineSnapshot, _ fields: FieldIDs, _ cancellation: Cancellation) throws(StatusError) {
        self.snapshot = snapshot
        self.fields = fields
        self.cancellation = cancellation
        progress = try IndexProgress(snapshot.builds)
        isIndexed = progress.fill == nil ? try snapshot.hasFewerLaterChanges(than: Self.maximumChangeCount) : false
        rows = isIndexed ? snapshot.latest : snapshot
    }

    /// True if no backfill is needed.
    var isComplete: Bool { progress.isComplete }

    var time: Timestamp { snapshot.time ?? .minimum }

    var commitTime: Timestamp? { rows.time }

    func policy(of collection: CollectionID?) throws(StatusError) -> IndexingPolicy {
        guard isIndexed, let collection else { return .namesOnly }
        return progress.builds[collection]?.state.readable ?? IndexingPolicy()
    }

    func checkCancellation() throws(StatusError) { try cancellation.check() }

    /// None: the engine's rows are read as a whole.
    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath] { [] }
}

// MARK: - Documents

extension EngineIndex {
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        readCount += 1
        if let current, current.path == path { return current }
        if changed.contains(path) { return try snapshot.document(at: path) }
        return try prefetch.document(at: path, in: rows, lookahead)
    }

    func changedPaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath] {
        guard isIndexed else { return [] }
        let paths = try snapshot.pathsChangedLater(in: source.scope).filter { source.contains($0) }
        changed = Set(paths)
        return paths
    }

    func images(ofChanged paths: ArraySlice<DocumentPath>) throws(StatusError) -> [EncodedDocument] {
        try snapshot.images(beforeLaterChangesOf: Array(paths))
    }
}

/// The next rows of a scan.
protocol NameLookahead: AnyObject {
    /// Returns the keys of the paths of the next documents that were fetched already, at most `count`.
    func nextKeys(_ count: Int) -> [[UInt8]]
}

extension StructuredQuery.Source {
    /// The rows of its documents, and possibly of others.
    fileprivate var scope: EngineSnapshot.Scope {
        switch self {
        case .collection(let path): .collection(path)
        case .collectionGroup(let id, below: _): .group(id)
        case .descendants: .database
        }
    }
}

extension IndexTarget {
    /// The rows of its documents.
    var scope: EngineSnapshot.Scope {
        switch self {
        case .collection(let path): .collection(path)
        case .group(let id, below: _): .group(id)
        case .all: .database
        }
    }

    /// The start of its documents' keys that their names omit.
    var namePrefix: [UInt8] {
        if case .collection(let path) = self { NameKey(path).bytes } else { [] }
    }
}
