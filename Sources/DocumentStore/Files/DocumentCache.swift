internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// Documents that were read or written lately, each with the version of the file that it is the contents of.
///
/// An entry is only as good as its file's identity: whoever takes it compares that with the file, since people edit files
/// while the server runs. Memory is bounded by two generations: new and used entries go into the young one, and when that
/// has half the bytes it replaces the old one.
final class DocumentCache: Sendable {
    /// A document and the file it was read from.
    struct Entry {
        let document: EncodedDocument
        let identity: FileIdentity
    }

    private typealias Generation = [DocumentPath: Entry]

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

    /// The entry for a path; its identity is still to be compared.
    func entry(at path: DocumentPath) -> Entry? {
        let (entry, _) = generations.withLock { generations -> (Entry?, givenUp: Generation) in
            if let entry = generations.young[path] { return (entry, [:]) }
            guard let entry = generations.old.removeValue(forKey: path) else { return (nil, [:]) }
            return (entry, insert(entry, into: &generations))
        }
        return entry
    }

    /// Takes in what a file holds.
    func insert(_ document: EncodedDocument, identity: FileIdentity) {
        let entry = Entry(document: document, identity: identity)
        _ = generations.withLock { insert(entry, into: &$0) }
    }

    /// Takes in what a file held when it was read, unless a later version has come in meanwhile.
    func insertRead(_ document: EncodedDocument, identity: FileIdentity) {
        let entry = Entry(document: document, identity: identity)
        _ = generations.withLock { generations -> Generation in
            let known = generations.young[document.path] ?? generations.old[document.path]
            if let known, known.document.updateTime > document.updateTime { return [:] }
            return insert(entry, into: &generations)
        }
    }

    /// Forgets a document.
    func remove(_ path: DocumentPath) {
        generations.withLock { generations in
            if let entry = generations.young.removeValue(forKey: path) { generations.youngBytes -= Self.cost(of: entry) }
            generations.old.removeValue(forKey: path)
        }
    }

    /// Returns the generation that is given up, so that its memory is freed when nobody waits for the lock.
    private func insert(_ entry: Entry, into generations: inout Generations) -> Generation {
        let path = entry.document.path
        let cost = Self.cost(of: entry)
        // A single document must not push everything else out.
        guard cost <= maximumBytes / 8 else {
            if let replaced = generations.young.removeValue(forKey: path) { generations.youngBytes -= Self.cost(of: replaced) }
            generations.old.removeValue(forKey: path)
            return [:]
        }
        if let replaced = generations.young.updateValue(entry, forKey: path) { generations.youngBytes -= Self.cost(of: replaced) }
        generations.old.removeValue(forKey: path)
        generations.youngBytes += cost
        guard generations.youngBytes > maximumBytes / 2 else { return [:] }
        let givenUp = generations.old
        generations.old = generations.young
        generations.young = [:]
        generations.youngBytes = 0
        return givenUp
    }

    /// About the memory that an entry takes.
    private static func cost(of entry: Entry) -> Int {
        entry.document.fieldsJSON.count + 2 * entry.document.path.id.key.byteCount + 256
    }
}
