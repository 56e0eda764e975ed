internal import Cryptography
internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import Synchronization
internal import UTF8Text

/// The IDs of the field paths of a database, under which the index has their entries.
///
/// They are digests, so that all servers know them without a table of numbers, which they would have to keep in memory, and which a
/// fail-over of the engine could change. The seed of the database is secret, so that nobody can choose names with equal IDs. Without
/// intent, of a million field paths two have the same ID with a probability of 1 : 10,000,000; their entries would be mixed.
final class FieldIDs: Sendable {
    private struct Name: Hashable {
        let parent: Int64
        let name: UTF8Key
    }

    private let seed: [UInt8]
    private let known = Mutex<[Name: Int64]>([:])

    /// The maximum number of IDs that are kept in memory.
    private static let maximumCount = 20_000
    /// The parent under which composite indexes have their IDs.
    private static let composites: Int64 = -1
    /// The parent of the names of the slots of geo cells.
    private static let cells: Int64 = -2

    /// - Parameter seed: The seed of the database.
    init(seed: [UInt8]) {
        self.seed = seed
    }

    /// Returns the ID of a field in the map field `parent`, which is 0 for a top-level field.
    func id(_ name: UTF8Key, under parent: Int64) -> Int64 {
        let key = Name(parent: parent, name: name)
        if let id = known.withLock({ $0[key] }) { return id }
        var bytes = seed
        withUnsafeBytes(of: parent.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += name.utf8
        let digest = SHA256.digest(of: bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        // A slot has one bit more, and is positive.
        let id = Int64(digest >> 2) | 1
        known.withLock { known in
            if known.count >= Self.maximumCount { known.removeAll(keepingCapacity: true) }
            known[key] = id
        }
        return id
    }

    /// Returns the ID of a field path.
    func id(_ path: FieldPath) -> Int64 {
        path.segments.reduce(0) { id($1, under: $0) }
    }

    /// Returns the ID of a composite index.
    func id(ofComposite fields: [IndexDefinition.Field]) -> Int64 { id(fields.catalogName, under: Self.composites) }

    /// Returns the slot of the geo cells of a field, by the slot of its values; see ``GeoCell``.
    func cellSlot(of slot: Int64) -> Int64 {
        IndexEntries.slot(field: id(UTF8Key("\(slot)"), under: Self.cells), kind: .value)
    }

    /// Returns the slot of an index; `nil` for the one of names, which has no entries.
    func slot(of index: IndexScan.Index) -> Int64? {
        switch index {
        case .documents: nil
        case .values(of: let path): IndexEntries.slot(field: id(path), kind: .value)
        case .elements(of: let path): IndexEntries.slot(field: id(path), kind: .element)
        case .composite(let fields): IndexEntries.slot(field: id(ofComposite: fields), kind: .value)
        }
    }

    /// Resolves a policy.
    func resolve(_ policy: IndexingPolicy) -> ResolvedIndexingPolicy {
        ResolvedIndexingPolicy(policy) { field in
            id(field)
        } compositeID: { fields in
            id(ofComposite: fields)
        }
    }
}
