internal import DocumentModel
internal import GRDB
internal import QueryEngine

extension IndexWriter {
    /// Replaces the vectors of a document that have changed. They are compared with those in the index, because entries have only the
    /// first components of a vector.
    ///
    /// - Parameter new: Entries that were computed from the document.
    func replaceVectors(_ old: IndexEntries, with new: IndexEntries, _ contentID: Int64, _ names: Names) throws {
        let oldSlots = old.vectorSlots
        guard !oldSlots.isEmpty || !new.vectors.isEmpty else { return }
        let (scope, name) = names.vectors
        for slot in oldSlots where !new.vectors.contains(where: { $0.slot == slot }) {
            let space = IndexSpace(scope: scope, slot: slot)
            guard let row = try VectorSpace.find(space, creating: false, database)?.row(contentID) else { continue }
            let delete = try IndexStatement("DELETE FROM vectors WHERE id = ?1", database)
            delete.bind(row, at: 1)
            try delete.run()
        }
        for (slot, vector) in new.vectors {
            let packed = PackedVector(vector)
            let space = IndexSpace(scope: scope, slot: slot)
            guard let row = try VectorSpace.find(space, creating: true, database)?.row(contentID) else { continue }
            if oldSlots.contains(slot), try packed.isStored(at: row, name, database) { continue }
            let insert = try IndexStatement(
                "INSERT OR REPLACE INTO vectors (id, name, isExact, vector) VALUES (?1, ?2, ?3, ?4)",
                database
            )
            try name.withUnsafeBytes { name in
                try packed.bytes.withUnsafeBytes { vector in
                    insert.bind(row, at: 1)
                    insert.bind(unowned: name, at: 2)
                    insert.bind(packed.isExact ? 1 : 0, at: 3)
                    insert.bind(unowned: vector, at: 4)
                    try insert.run()
                }
            }
        }
    }
}

extension PackedVector {
    /// Returns whether a row of `vectors` has the vector, and the name of its document.
    func isStored(at row: Int64, _ name: some Sequence<UInt8>, _ database: Database) throws -> Bool {
        let select = try IndexStatement("SELECT name, isExact, vector FROM vectors WHERE id = ?1", database)
        defer { select.reset() }
        select.bind(row, at: 1)
        guard try select.step() else { return false }
        return select.integer(1) == (isExact ? 1 : 0) && select.bytes(0).elementsEqual(name)
            && select.bytes(2).elementsEqual(bytes)
    }
}
