internal import DocumentModel
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// A cache of recently read or written documents, with the identities of their files.
///
/// Callers must compare an entry's identity with the file, because files may be edited while the server runs, unless they know that
/// the folder's entry has not changed since the last comparison (``FolderChanges``). The cache is limited in bytes, and divided into
/// shards, each with its own lock, to avoid contention. A document larger than half a shard is not cached.
final class DocumentCache: Sendable {
    /// A document and the file it was read from.
    struct Entry {
        let document: EncodedDocument
        let identity: FileIdentity
        /// The position in the changes of the collection's folder at which the file had the identity; `nil` if unknown.
        var verified: FolderChanges.Position?
        /// True if a commit wrote the file, false if it was read, and may be an edit.
        var isCommitted = false
        /// True if the time of the file shows that it is an edit.
        var isEdited = false
        /// The document before the file was found to be another one.
        var previous: EncodedDocument?

        /// Returns the document as it was before the file got an identity, or was removed; `.none` if that is not known.
        ///
        /// - Parameter identity: The identity of the file; `nil` if it was removed. What was read may have been deleted before: then only
        ///   a commit is known.
        func version(before identity: FileIdentity?) -> EncodedDocument?? {
            if isCommitted { return .some(document) }
            guard let identity else { return .none }
            return (previous == nil && !isEdited && identity != self.identity ? document : previous).map { .some($0) }
        }

        /// The document as it was last read before its file was removed, provided that it was not deleted; `nil` if that is not known.
        var versionBeforeRemoval: EncodedDocument? { previous ?? (isEdited ? nil : document) }

        /// The last committed version of the document, if the cache knows it. What was just read may be gone.
        var committed: EncodedDocument? { isCommitted ? document : previous }
    }

    private let shards: [Shard]

    /// The size of a shard. The JSON of nearly all documents of the maximum size is smaller than half of it.
    private static let shardBytes = 8 << 20

    init(maximumBytes: Int) {
        let count = max(1, maximumBytes / Self.shardBytes)
        shards = (0..<count).map { _ in Shard(maximumBytes: maximumBytes / count) }
    }

    /// Returns the entry of a path. The caller must compare its identity with the file.
    func entry(at path: DocumentPath) -> Entry? {
        let key = Key(path)
        return shard(of: key).entry(for: key)
    }

    /// The number of cached documents.
    var count: Int { shards.reduce(0) { $0 + $1.count } }

    /// The number of reads and writes so far.
    var useCount: Int { shards.reduce(0) { $0 + $1.useCount } }

    /// Removes all documents.
    func removeAll() {
        for shard in shards { shard.removeAll() }
    }

    /// Inserts the contents of a file.
    func insert(_ document: EncodedDocument, identity: FileIdentity) {
        let key = Key(document.path)
        shard(of: key).insert(Entry(document: document, identity: identity, isCommitted: true), for: key)
    }

    /// Inserts the contents of a file at the time of a read, unless a later version was inserted in the meantime.
    ///
    /// - Parameter isEdited: True if the time of the file shows that it is an edit.
    func insertRead(
        _ document: EncodedDocument,
        identity: FileIdentity,
        verified: FolderChanges.Position? = nil,
        isEdited: Bool = false
    ) {
        let key = Key(document.path)
        let entry = Entry(document: document, identity: identity, verified: verified, isEdited: isEdited)
        shard(of: key).insertRead(entry, for: key)
    }

    /// Records the position at which the file of a path had the identity of the entry, unless the entry has changed.
    func recordVerification(of path: DocumentPath, identity: FileIdentity, at position: FolderChanges.Position) {
        let key = Key(path)
        shard(of: key).recordVerification(of: key, identity: identity, at: position)
    }

    /// Removes a document.
    func remove(_ path: DocumentPath) {
        let key = Key(path)
        shard(of: key).remove(key)
    }

    private func shard(of key: Key) -> Shard {
        shards[Int(UInt(bitPattern: key.hash) % UInt(shards.count))]
    }
}

extension DocumentCache {
    /// A path with its hash, which is computed outside the lock.
    private struct Key: Hashable {
        // Compared first, because paths in a collection share a prefix.
        let hash: Int
        let path: DocumentPath

        init(_ path: DocumentPath) {
            self.path = path
            hash = path.hashValue
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }
    }

    /// A shard with two generations. New and used entries are in the young one; when it reaches half of the size, it replaces the
    /// old one.
    private final class Shard: Sendable {
        private typealias Generation = [Key: Entry]

        private struct Generations {
            var young: Generation = [:]
            var old: Generation = [:]
            var youngBytes = 0
            /// The number of reads and writes.
            var useCount = 0
        }

        private let generations = Mutex(Generations())
        private let maximumBytes: Int

        init(maximumBytes: Int) {
            self.maximumBytes = maximumBytes
        }

        func entry(for key: Key) -> Entry? {
            let (entry, _) = generations.withLock { generations -> (Entry?, evicted: Generation) in
                generations.useCount += 1
                if let entry = generations.young[key] { return (entry, [:]) }
                guard let entry = generations.old.removeValue(forKey: key) else { return (nil, [:]) }
                return (entry, insert(entry, for: key, into: &generations))
            }
            return entry
        }

        func insert(_ entry: Entry, for key: Key) {
            _ = generations.withLock { insert(entry, for: key, into: &$0) }
        }

        func insertRead(_ entry: Entry, for key: Key) {
            _ = generations.withLock { generations -> Generation in
                let existing = generations.young[key] ?? generations.old[key]
                if let existing, existing.document.updateTime > entry.document.updateTime { return [:] }
                var entry = entry
                if let existing, existing.identity == entry.identity {
                    (entry.isCommitted, entry.previous) = (existing.isCommitted, existing.previous)
                } else {
                    entry.previous = existing.map { $0.previous ?? $0.document }
                }
                return insert(entry, for: key, into: &generations)
            }
        }

        func recordVerification(of key: Key, identity: FileIdentity, at position: FolderChanges.Position) {
            generations.withLock { generations in
                // An entry that was just read is in the young generation.
                guard generations.young[key]?.identity == identity else { return }
                generations.young[key]?.verified = position
            }
        }

        var count: Int { generations.withLock { $0.young.count + $0.old.count } }

        var useCount: Int { generations.withLock { $0.useCount } }

        func removeAll() {
            // Freed after the lock is released.
            _ = generations.withLock { generations in
                defer { generations = Generations(useCount: generations.useCount) }
                return (generations.young, generations.old)
            }
        }

        func remove(_ key: Key) {
            generations.withLock { remove(key, from: &$0) }
        }

        private func remove(_ key: Key, from generations: inout Generations) {
            if let entry = generations.young.removeValue(forKey: key) { generations.youngBytes -= entry.cost }
            generations.old.removeValue(forKey: key)
        }

        /// Returns the evicted generation, so that its memory is freed after the lock is released.
        private func insert(_ entry: Entry, for key: Key, into generations: inout Generations) -> Generation {
            remove(key, from: &generations)
            generations.useCount += 1
            // A single document must not evict everything else.
            guard entry.cost <= maximumBytes / 2 else { return [:] }
            var evicted: Generation = [:]
            if generations.youngBytes + entry.cost > maximumBytes / 2 {
                evicted = generations.old
                generations.old = generations.young
                generations.young = [:]
                generations.youngBytes = 0
            }
            generations.young[key] = entry
            generations.youngBytes += entry.cost
            return evicted
        }
    }
}

extension DocumentCache.Entry {
    /// The approximate memory size in bytes.
    var cost: Int {
        document.fieldsJSON.count + (previous?.fieldsJSON.count ?? 0) + 2 * document.path.id.key.byteCount + 256
    }
}
