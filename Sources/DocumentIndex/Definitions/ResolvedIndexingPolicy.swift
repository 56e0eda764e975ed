internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import QueryEngine
internal import StrictJSON

/// An ``IndexingPolicy`` with its fields resolved to the IDs of the index catalog.
struct ResolvedIndexingPolicy {
    private typealias CompositeField = (slot: Int64, direction: StructuredQuery.Order.Direction)

    private let composites: [(slot: Int64, fields: [CompositeField])]
    private let exempt: Set<Int64>

    /// Resolves a policy.
    ///
    /// - Parameter creating: Whether to assign IDs to fields that have none. A field without an ID is in no document.
    init(_ policy: IndexingPolicy, _ catalog: inout IndexCatalog, creating: Bool, _ database: Database) throws {
        var composites: [(slot: Int64, fields: [CompositeField])] = []
        for fields in policy.composites {
            guard let id = try catalog.compositeID(fields, creating: creating, in: database) else { continue }
            var slots: [CompositeField] = []
            for field in fields {
                guard let id = try catalog.fieldID(field.field, creating: creating, in: database) else { break }
                slots.append((IndexSpace.slot(field: id, kind: .value), field.direction))
            }
            if slots.count == fields.count { composites.append((IndexSpace.slot(field: id, kind: .value), slots)) }
        }
        self.composites = composites
        var exempt: Set<Int64> = []
        for field in policy.exempt {
            if let id = try catalog.fieldID(field, creating: creating, in: database) { exempt.insert(id) }
        }
        self.exempt = exempt
    }

    /// Returns the entries that a document has under the policy.
    ///
    /// - Parameter entries: The entries that it would have without exemptions and composite indexes.
    func entries(from entries: IndexEntries, _ catalog: inout IndexCatalog, _ database: Database) throws -> IndexEntries {
        var result: [IndexEntries.Entry] = []
        var bytes = entries.bytes
        for entry in entries.entries where try !isExempt(entry.slot, &catalog, database) { result.append(entry) }
        for composite in composites {
            guard let key = Self.key(composite.fields, entries) else { continue }
            result.append(IndexEntries.Entry(slot: composite.slot, value: bytes.count..<bytes.count + key.bytes.count))
            bytes += key.bytes
        }
        return IndexEntries(sorting: result, bytes)
    }

    private func isExempt(_ slot: Int64, _ catalog: inout IndexCatalog, _ database: Database) throws -> Bool {
        guard !exempt.isEmpty else { return false }
        var field = IndexSpace.field(ofSlot: slot)
        while field > 0 {
            if exempt.contains(field) { return true }
            field = try catalog.parentID(of: field, in: database)
        }
        return false
    }

    private static func key(_ fields: [CompositeField], _ entries: IndexEntries) -> CompositeKey? {
        var key = CompositeKey()
        for field in fields {
            guard let entry = entries.entries.first(where: { $0.slot == field.slot }) else { return nil }
            key.append(entries.bytes[entry.value], field.direction)
        }
        return key
    }
}

/// An ``IndexBuildState`` with its fields resolved to the IDs of the index catalog.
struct ResolvedIndexBuildState {
    let maintained: ResolvedIndexingPolicy
    let readable: ResolvedIndexingPolicy
    let desired: ResolvedIndexingPolicy
    let isBackfilled: Bool

    init(_ state: IndexBuildState, _ catalog: inout IndexCatalog, _ database: Database) throws {
        maintained = try ResolvedIndexingPolicy(state.maintained, &catalog, creating: true, database)
        readable = try ResolvedIndexingPolicy(state.readable, &catalog, creating: true, database)
        desired = try ResolvedIndexingPolicy(state.desired, &catalog, creating: true, database)
        isBackfilled = state.isBackfilled
    }
}
