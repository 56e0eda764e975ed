internal import DocumentIndex
internal import DocumentModel
internal import QueryEngine

extension EngineMigration {
    /// Version 2: the index. The entries of existing documents are added afterward, in steps (``EntryBackfill``).
    static let entries = EngineMigration(version: 2, minimumVersion: 2) { connection throws(StatusError) in
        // Waits for the commits in progress. Servers of version 1 cannot commit from then on.
        try connection.executeScript(
            """
            ALTER TABLE hearth.databases ADD COLUMN seed BYTEA, ADD COLUMN builds BYTEA;
            ALTER TABLE hearth.commits ADD COLUMN format BIGINT NOT NULL DEFAULT 1;
            ALTER TABLE hearth.commits ALTER COLUMN format DROP DEFAULT;
            CREATE TABLE hearth.entries (
                db BIGINT, scope BIGINT, slot BIGINT, value BYTEA, name BYTEA,
                is_double BOOLEAN NOT NULL, long_name BYTEA, vector BYTEA,
                PRIMARY KEY (db, scope, slot, value, name)
            );
            """
        )
        let databases = try connection.execute(
            EngineStatement(
                """
                SELECT d.db, s.documents, d.indexes FROM hearth.databases d
                LEFT JOIN hearth.scopes s ON s.db = d.db AND s.id = 0 WHERE d.name IS NOT NULL
                """
            )
        )
        for row in 0..<databases.count {
            guard let number = databases.integer(row, 0) else { continue }
            let total = databases.integer(row, 1) ?? 0
            var progress = IndexProgress()
            if let bytes = databases.bytes(row, 2) {
                let definitions = try IndexDefinitions(bytes)
                for collection in definitions.collections {
                    // The first backfill adds the entries of all of them.
                    progress.builds[collection] = IndexProgress.Build(
                        state: IndexBuildState(backfilled: definitions.policy(of: collection))
                    )
                }
            }
            if total > 0 { progress.fill = IndexProgress.Position(total: total) }
            try connection.execute(
                EngineStatement(
                    "UPDATE hearth.databases SET seed = $2::bytea, builds = $3::bytea WHERE db = $1::bigint",
                    .integer(number),
                    .bytes(DatabaseRow.makeSeed()),
                    .bytes(progress.encoded)
                )
            )
        }
    }
}
