import DocumentModel
import DocumentStore

/// The state machine of a target that is a list of documents.
struct DocumentsListenState: Sendable {
    private let paths: Set<DocumentPath>
    /// The documents whose initial state has not been read.
    private var unread: ArraySlice<DocumentPath>

    /// The number of documents that are read at a time.
    private static let pageSize = 64

    init(_ paths: [DocumentPath], isResumed: Bool) {
        self.paths = Set(paths)
        unread = isResumed ? [] : Array(self.paths.sorted())[...]
    }

    var isComplete: Bool { unread.isEmpty }

    /// Reads the next documents as of a time. Those that don't exist are changes of the kind `deleted`.
    mutating func read(
        from store: any DocumentStore,
        at time: Timestamp
    ) async throws(StatusError) -> [OutgoingWatchFrame.Change] {
        var changes: [OutgoingWatchFrame.Change] = []
        for path in unread.prefix(Self.pageSize) {
            let document = try await store.document(at: path, readTime: time)
            changes.append(OutgoingWatchFrame.Change(document == nil ? .deleted : .added, path, document))
        }
        unread = unread.dropFirst(Self.pageSize)
        return changes
    }

    /// Returns the changes of a commit to the documents.
    func changes(of commit: Commit) -> [OutgoingWatchFrame.Change] {
        commit.changes.compactMap { change in
            guard paths.contains(change.path) else { return nil }
            let kind: OutgoingWatchFrame.Change.Kind =
                change.after == nil ? .deleted : change.existedBefore ? .modified : .added
            return OutgoingWatchFrame.Change(kind, change.path, change.after)
        }
    }

    /// Returns the documents that exist at a time.
    func existing(in store: any DocumentStore, at time: Timestamp) async throws(StatusError) -> [DocumentPath] {
        var existing: [DocumentPath] = []
        for path in paths.sorted() where try await store.document(at: path, readTime: time) != nil { existing.append(path) }
        return existing
    }
}
