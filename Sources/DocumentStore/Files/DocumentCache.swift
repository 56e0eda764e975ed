internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// Documents that were read or written lately, each with the version of the file that it is the contents of.
///
/// An entry is only as good as its file's identity: whoever takes it compares that with the file, since people edit files
/// while the server runs. All entries together take at most the given bytes. The documents are divided among parts with a lock each,
/// so that those who read hardly ever wait for each other; one that takes more than half a part is not kept.
final class DocumentCache: Sendable {
    /// A document and the file it was read from.
    struct Entry {
        let document: EncodedDocument
        let identity: FileIdentity
    }

    private let parts: [Part]

    /// What a part may take, where there are several: nearly all documents of a mebibyte have less than half of it as JSON.
    private static let partBytes = 8 << 20

    init(maximumBytes: Int) {
        let count = max(1, maximumBytes / Self.partBytes)
        parts = (0..<count).map { _ in Part(maximumBytes: maximumBytes / count) }
    }

    /// The entry for a path; its identity is still to be compared.
    func entry(at path: DocumentPath) -> Entry? {
        let key = Key(path)
        return part(of: key).entry(for: key)
    }

    /// Takes in what a file holds.
    func insert(_ document: EncodedDocument, identity: FileIdentity) {
        let key = Key(document.path)
        part(of: key).insert(Entry(document: document, identity: identity), for: key)
    }

    /// Takes in what a file held when it was read, unless a later version has come in meanwhile.
    func insertRead(_ document: EncodedDocument, identity: FileIdentity) {
        let key = Key(document.path)
        part(of: key).insertRead(Entry(document: document, identity: identity), for: key)
    }

    /// Forgets a document.
    func remove(_ path: DocumentPath) {
        let key = Key(path)
        part(of: key).remove(key)
    }

    private func part(of key: Key) -> Part {
        parts[Int(UInt(bitPattern: key.hash) % UInt(parts.count))]
    }
}

extension DocumentCache {
    /// A path with its hash, which is not made while others wait.
    private struct Key: Hashable {
        // Compared first: the paths of a collection's documents begin with the same.
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

    /// Some of the documents, in two generations: new and used entries go into the young one, and when that has half the bytes it
    /// replaces the old one.
    private final class Part: Sendable {
        private typealias Generation = [Key: Entry]

        private struct Generations {
            var young: Generation = [:]
            var old: Generation = [:]
            var youngBytes = 0
        }

        private let generations = Mutex(Generations())
        private let maximumBytes: Int

        init(maximumBytes: Int) {
            self.maximumBytes = maximumBytes
        }

        func entry(for key: Key) -> Entry? {
            let (entry, _) = generations.withLock { generations -> (Entry?, givenUp: Generation) in
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
                let known = generations.young[key] ?? generations.old[key]
                if let known, known.document.updateTime > entry.document.updateTime { return [:] }
                return insert(entry, for: key, into: &generations)
            }
        }

        func remove(_ key: Key) {
            generations.withLock { remove(key, from: &$0) }
        }

        private func remove(_ key: Key, from generations: inout Generations) {
            if let entry = generations.young.removeValue(forKey: key) { generations.youngBytes -= entry.cost }
            generations.old.removeValue(forKey: key)
        }

        /// Returns the generation that is given up, so that its memory is freed when nobody waits for the lock.
        private func insert(_ entry: Entry, for key: Key, into generations: inout Generations) -> Generation {
            remove(key, from: &generations)
            // A single document must not push everything else out.
            guard entry.cost <= maximumBytes / 2 else { return [:] }
            var givenUp: Generation = [:]
            if generations.youngBytes + entry.cost > maximumBytes / 2 {
                givenUp = generations.old
                generations.old = generations.young
                generations.young = [:]
                generations.youngBytes = 0
            }
            generations.young[key] = entry
            generations.youngBytes += entry.cost
            return givenUp
        }
    }
}

extension DocumentCache.Entry {
    /// About the memory that the entry takes, in bytes.
    var cost: Int {
        document.fieldsJSON.count + 2 * document.path.id.key.byteCount + 256
    }
}
