internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// ``IndexRules`` with the numbers that the database has for fields.
struct IndexRowRules {
    private let composites: [(slot: Int64, fields: [(slot: Int64, direction: Query.Order.Direction)])]
    private let exempt: Set<Int64>

    /// - Parameter makes: Whether fields get numbers that have none; without one no document has them.
    init(_ rules: IndexRules, _ numbers: inout IndexNumbers, making makes: Bool, _ database: Database) throws {
        var composites: [(slot: Int64, fields: [(slot: Int64, direction: Query.Order.Direction)])] = []
        for fields in rules.composites {
            guard let number = try numbers.composite(fields, making: makes, in: database) else { continue }
            var slots: [(slot: Int64, direction: Query.Order.Direction)] = []
            for field in fields {
                guard let number = try numbers.field(field.field, making: makes, in: database) else { break }
                slots.append((IndexSpace.slot(field: number, kind: .value), field.direction))
            }
            if slots.count == fields.count { composites.append((IndexSpace.slot(field: number, kind: .value), slots)) }
        }
        self.composites = composites
        var exempt: Set<Int64> = []
        for field in rules.exempt {
            if let number = try numbers.field(field, making: makes, in: database) { exempt.insert(number) }
        }
        self.exempt = exempt
    }

    /// The entries that a document has by the rules.
    ///
    /// - Parameter entries: Those that it would have without.
    func rows(of entries: IndexEntries, _ numbers: inout IndexNumbers, _ database: Database) throws -> IndexEntries {
        var rows: [IndexEntries.Entry] = []
        var bytes = entries.bytes
        for entry in entries.entries where try !isExempt(entry.slot, &numbers, database) { rows.append(entry) }
        for composite in composites {
            guard let key = Self.key(composite.fields, entries) else { continue }
            rows.append(IndexEntries.Entry(slot: composite.slot, value: bytes.count..<bytes.count + key.bytes.count))
            bytes += key.bytes
        }
        return IndexEntries(sorting: rows, bytes)
    }

    private func isExempt(_ slot: Int64, _ numbers: inout IndexNumbers, _ database: Database) throws -> Bool {
        guard !exempt.isEmpty else { return false }
        var field = IndexSpace.field(ofSlot: slot)
        while field > 0 {
            if exempt.contains(field) { return true }
            field = try numbers.parent(of: field, in: database)
        }
        return false
    }

    private static func key(
        _ fields: [(slot: Int64, direction: Query.Order.Direction)],
        _ entries: IndexEntries
    ) -> CompositeKey? {
        var key = CompositeKey()
        for field in fields {
            guard let entry = entries.entries.first(where: { $0.slot == field.slot }) else { return nil }
            key.append(entries.bytes[entry.value], field.direction)
        }
        return key
    }
}

/// ``IndexRuleState`` with the numbers that the database has for fields.
struct IndexRowRuleState {
    let present: IndexRowRules
    let ready: IndexRowRules
    let target: IndexRowRules
    let isSettled: Bool

    init(_ state: IndexRuleState, _ numbers: inout IndexNumbers, _ database: Database) throws {
        present = try IndexRowRules(state.present, &numbers, making: true, database)
        ready = try IndexRowRules(state.ready, &numbers, making: true, database)
        target = try IndexRowRules(state.target, &numbers, making: true, database)
        isSettled = state.isSettled
    }
}
