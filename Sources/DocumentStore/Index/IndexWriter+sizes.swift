internal import GRDB

extension IndexWriter {
    /// How many scopes' sizes are remembered before they are written.
    private static let maximumCount = 10_000

    /// Notes by how much a document changes the sizes of the scopes that it is in.
    func note(_ change: CollectionSize, _ names: Names, _ memory: inout Memory) {
        for (scope, _) in names.all { memory.sizes[scope, default: .zero] += change }
    }

    /// Carries out the changes of sizes that were noted.
    func writeSizes(_ memory: inout Memory) throws {
        let statement = try IndexStatement(
            """
            INSERT INTO sizes (scope, documents, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (scope) DO UPDATE SET documents = documents + excluded.documents, bytes = bytes + excluded.bytes
            """,
            database
        )
        let removal = try IndexStatement("DELETE FROM sizes WHERE scope = ?1 AND documents = 0 AND bytes = 0", database)
        for (scope, change) in memory.sizes where change != .zero {
            statement.bind(scope, at: 1)
            statement.bind(Int64(change.documentCount), at: 2)
            statement.bind(Int64(change.byteCount), at: 3)
            try statement.run()
            guard change.documentCount < 0 else { continue }
            removal.bind(scope, at: 1)
            try removal.run()
        }
        memory.sizes.removeAll(keepingCapacity: memory.sizes.count < Self.maximumCount)
    }

    /// The same where there are many of them.
    func writeSizesIfMany(_ memory: inout Memory) throws {
        if memory.sizes.count >= Self.maximumCount { try writeSizes(&memory) }
    }
}
