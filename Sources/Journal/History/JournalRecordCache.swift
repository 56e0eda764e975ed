internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// A cache of the commits from which versions of documents were read last, shared by all readers of a history.
///
/// Reads of the versions of many documents mostly need few records, those of commits that changed many documents. Without the cache, each
/// of these reads would decode such a record as a whole.
final class JournalRecordCache: Sendable {
    /// A commit whose changes are found by their paths.
    final class Entry: Sendable {
        let commit: Commit
        private let positions: [DocumentPath: Int]

        init(_ commit: Commit) {
            self.commit = commit
            positions = Dictionary(commit.changes.enumerated().map { ($1.path, $0) }) { first, _ in first }
        }

        /// Returns the change to a document; `nil` if the commit did not change it.
        func change(to path: DocumentPath) -> CommittedChange? { positions[path].map { commit.changes[$0] } }
    }

    /// The location of a record.
    struct Location: Hashable {
        let segment: SequenceNumber
        let offset: Int
    }

    /// Commits that leave the cache together.
    private struct Generation {
        var entries: [Location: (entry: Entry, byteCount: Int)] = [:]
        var byteCount = 0

        mutating func remove(_ location: Location) {
            byteCount -= entries.removeValue(forKey: location)?.byteCount ?? 0
        }
    }

    /// Two generations, so that no use of the cache takes time in proportion to the number of commits.
    private struct State {
        /// The commits that were used last.
        var newer = Generation()
        /// Others, which become newer ones when they are used.
        var older = Generation()

        /// Adds a commit to the newer ones, or moves it there, and returns those that had to go.
        mutating func add(_ entry: Entry, at location: Location, _ byteCount: Int, maximumBytes: Int) -> [Generation] {
            newer.remove(location)
            older.remove(location)
            var removed: [Generation] = []
            if newer.byteCount + byteCount > maximumBytes / 2 {
                removed.append(older)
                (older, newer) = (newer, Generation())
            }
            if older.byteCount + byteCount > maximumBytes {
                removed.append(older)
                older = Generation()
            }
            newer.entries[location] = (entry, byteCount)
            newer.byteCount += byteCount
            return removed
        }
    }

    private let state = Mutex(State())
    /// The maximum memory of the commits.
    private let maximumBytes: Int

    /// Creates an empty cache.
    ///
    /// - Parameter maximumBytes: The memory for commits.
    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Returns the commit at a location if it is cached.
    ///
    /// - Parameter time: The time of the commit, which tells it from one that was at this location before the journal was truncated.
    func entry(at location: Location, time: Timestamp) -> Entry? {
        // Removed entries are freed after the lock.
        let (entry, _) = state.withLock { [maximumBytes] state -> (Entry?, [Generation]) in
            if let (entry, _) = state.newer.entries[location] { return (entry.commit.time == time ? entry : nil, []) }
            guard let (entry, byteCount) = state.older.entries[location], entry.commit.time == time else { return (nil, []) }
            return (entry, state.add(entry, at: location, byteCount, maximumBytes: maximumBytes))
        }
        return entry
    }

    /// Adds a commit, unless it is larger than the cache, and removes some of those that were not used for longest if there are too many.
    ///
    /// - Parameter byteCount: The size of its record.
    func insert(_ entry: Entry, at location: Location, byteCount: Int) {
        let byteCount = byteCount + Self.changeBytes * (1 + entry.commit.changes.count)
        guard byteCount <= maximumBytes else { return }
        _ = state.withLock { [maximumBytes] state in state.add(entry, at: location, byteCount, maximumBytes: maximumBytes) }
    }

    /// Removes all commits.
    func removeAll() {
        _ = state.withLock { state in
            defer { state = State() }
            return state
        }
    }

    /// The approximate memory that a decoded change takes beyond its size in the record; also that of a commit.
    private static let changeBytes = 256
}
