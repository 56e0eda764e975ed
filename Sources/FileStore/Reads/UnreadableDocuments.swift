internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// The documents that reads have found to be unreadable, so that aggregations and offsets that are computed in the index leave
/// them out and report them, as queries that read them do.
///
/// A path is removed by the next commit that writes or deletes the document. It stays when the file is mended or removed by
/// hand: the index still has the entries of the last commit, which queries must not use.
final class UnreadableDocuments: Sendable {
    private let paths = Mutex<Set<DocumentPath>>([])

    /// The maximum number of paths. Further ones are not recorded, so that a damaged disk does not fill the memory.
    private static let maximumCount = 10_000

    /// The number of recorded documents.
    var count: Int { paths.withLock(\.count) }

    /// Records that a document cannot be read.
    func insert(_ path: DocumentPath) {
        paths.withLock { paths in
            if paths.count < Self.maximumCount { paths.insert(path) }
        }
    }

    /// Records that commits have changed documents, and thus their index entries.
    func remove(_ changed: some Sequence<DocumentPath>) {
        paths.withLock { paths in
            if !paths.isEmpty { paths.subtract(changed) }
        }
    }

    /// Returns the documents in a source.
    func paths(in source: StructuredQuery.Source) -> [DocumentPath] {
        let all = paths.withLock { $0 }
        return all.filter { source.contains($0) }
    }
}
