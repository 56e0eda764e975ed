package import DocumentModel
package import DocumentStore
internal import StrictJSON
package import UTF8Text

/// An ``IndexingPolicy`` with its fields resolved to the field IDs of a store's index.
package struct ResolvedIndexingPolicy: Sendable {
    private typealias CompositeField = (slot: Int64, direction: StructuredQuery.Order.Direction)

    private let composites: [(slot: Int64, fields: [CompositeField])]
    private let exempt: Set<Int64>

    /// Resolves a policy.
    ///
    /// - Parameters:
    ///   - fieldID: Returns the ID of a field; `nil` if no document has it.
    ///   - compositeID: Returns the field ID under which a composite index has its entries; `nil` if it has none.
    package init<Failure: Error>(
        _ policy: IndexingPolicy,
        fieldID: (FieldPath) throws(Failure) -> Int64?,
        compositeID: ([IndexDefinition.Field]) throws(Failure) -> Int64?
    ) throws(Failure) {
        var composites: [(slot: Int64, fields: [CompositeField])] = []
        for fields in policy.composites {
            guard let id = try compositeID(fields) else { continue }
            var slots: [CompositeField] = []
            for field in fields {
                guard let id = try fieldID(field.field) else { break }
                slots.append((IndexEntries.slot(field: id, kind: .value), field.direction))
            }
            if slots.count == fields.count { composites.append((IndexEntries.slot(field: id, kind: .value), slots)) }
        }
        self.composites = composites
        var exempt: Set<Int64> = []
        for field in policy.exempt {
            if let id = try fieldID(field) { exempt.insert(id) }
        }
        self.exempt = exempt
    }

    /// Returns the entries that a document has under the policy.
    ///
    /// - Parameters:
    ///   - entries: The entries that it would have without exemptions and composite indexes.
    ///   - parentID: Returns the ID of the map field that contains a field; 0 for a top-level field.
    package func entries<Failure: Error>(
        from entries: IndexEntries,
        parentID: (Int64) throws(Failure) -> Int64
    ) throws(Failure) -> IndexEntries {
        var result: [IndexEntries.Entry] = []
        var bytes = entries.bytes
        for entry in entries.entries where try !isExempt(entry.slot, parentID) { result.append(entry) }
        for composite in composites {
            guard let key = Self.key(composite.fields, entries) else { continue }
            result.append(IndexEntries.Entry(slot: composite.slot, value: bytes.count..<bytes.count + key.bytes.count))
            bytes += key.bytes
        }
        return IndexEntries(sorting: result, bytes)
    }

    private func isExempt<Failure: Error>(
        _ slot: Int64,
        _ parentID: (Int64) throws(Failure) -> Int64
    ) throws(Failure) -> Bool {
        guard !exempt.isEmpty else { return false }
        var field = IndexEntries.field(ofSlot: slot)
        while field > 0 {
            if exempt.contains(field) { return true }
            field = try parentID(field)
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

/// An ``IndexBuildState`` with its fields resolved to the field IDs of a store's index.
package struct ResolvedIndexBuildState: Sendable {
    /// The policy whose entries may exist.
    package let maintained: ResolvedIndexingPolicy
    /// The policy whose entries are complete.
    package let readable: ResolvedIndexingPolicy
    /// The defined policy.
    package let desired: ResolvedIndexingPolicy
    /// True if no backfill is needed.
    package let isBackfilled: Bool

    /// Resolves the policies of a state.
    package init<Failure: Error>(
        _ state: IndexBuildState,
        resolving resolve: (IndexingPolicy) throws(Failure) -> ResolvedIndexingPolicy
    ) throws(Failure) {
        maintained = try resolve(state.maintained)
        readable = try resolve(state.readable)
        desired = try resolve(state.desired)
        isBackfilled = state.isBackfilled
    }
}

extension [IndexDefinition.Field] {
    /// The name that identifies a composite index of the fields in a store's index.
    package var catalogName: UTF8Key {
        var writer = JSONWriter()
        writer.fields(self)
        return UTF8Key(String(decoding: writer.finish(), as: UTF8.self))
    }
}
