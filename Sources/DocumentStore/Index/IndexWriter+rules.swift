internal import DocumentModel
internal import GRDB

extension IndexWriter {
    /// Carries out how a document's entries change, by the rules of its collection.
    func replace(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ content: Int64,
        _ names: Names,
        in collection: CollectionID,
        _ memory: inout Memory
    ) throws {
        guard let rules = try rules(of: collection, &memory) else { return try replace(old, with: new, content, names, &memory) }
        let rows = try rules.target.rows(of: new, &memory.numbers, database)
        let present = try rules.present.rows(of: old, &memory.numbers, database)
        guard !rules.isSettled else { return try replace(present, with: rows, content, names, &memory) }
        let ready = try rules.ready.rows(of: old, &memory.numbers, database)
        let scopes = names.searched.map { (scope: $0.scope, name: memory.changes.add(name: $0.name)) }
        memory.changes.add(from: present, to: rows, scopes: scopes, adding: false)
        memory.changes.add(from: ready, to: rows, scopes: scopes, removing: false)
        try replacePlaces(old, with: rows, content, names, isForced: true)
    }

    /// Gives a document the entries that it should have by other rules than before.
    func conform(_ path: DocumentPath, _ memory: inout Memory) throws {
        guard let names = try names(of: path, making: false, &memory), let content = try content(of: names.own) else { return }
        let entries = try stored(content).entries
        try replace(entries, with: entries, content, names, in: path.collection.id, &memory)
    }

    private func rules(of collection: CollectionID, _ memory: inout Memory) throws -> IndexRowRuleState? {
        let known: [CollectionID: IndexRowRuleState]
        if let rules = memory.rules {
            known = rules
        } else {
            let states = try IndexRuleState.all(database)
            known = try states.mapValues { try IndexRowRuleState($0, &memory.numbers, database) }
            memory.rules = known
        }
        return known[collection]
    }
}
