internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

/// The statements that write a batch of commits and end its transaction: one for each table, except for a large number of entries.
struct CommitWriter {
    private let transaction: CommitTransaction
    private let state: CommitTransaction.State
    private let batch: CommitBatch
    /// The tokens of the commits.
    private let tokens: [[UInt8]]
    /// The changes of the scopes by key, in the order of the numbers of new ones.
    private var scopes: [[UInt8]: ScopeChange] = [:]
    private var lastScope: Int64
    private var entries: EntryChanges

    private struct ScopeChange {
        let id: Int64
        var size = CollectionSize.zero
        var changed: SequenceNumber
    }

    init(
        _ transaction: CommitTransaction,
        _ state: CommitTransaction.State,
        _ batch: CommitBatch,
        _ tokens: [[UInt8]]
    ) throws(StatusError) {
        self.transaction = transaction
        self.state = state
        self.batch = batch
        self.tokens = tokens
        lastScope = state.lastScope
        entries = EntryChanges(transaction.database, state.progress, transaction.fields)
        for commit in batch.commits {
            for change in commit.changes {
                let before = try change.before.map { document throws(StatusError) in try document.decoded().fields }
                let after = try change.after.map { document throws(StatusError) in try document.decoded().fields }
                let size = CollectionSize(
                    documentCount: (after == nil ? 0 : 1) - (before == nil ? 0 : 1),
                    byteCount: (after.map { Document.size(of: $0, at: change.path) } ?? 0)
                        - (before.map { Document.size(of: $0, at: change.path) } ?? 0)
                )
                for scope in change.path.scopes + [.database] { add(size, to: scope.key, in: commit) }
            }
        }
        for path in batch.changedPaths {
            guard let collection = scopeID(.collection(path.collection)), let group = scopeID(.group(path.collection.id)) else {
                continue
            }
            let before = try state.document(at: path)?.decoded().fields
            let after = batch.image(of: path)?.decoded?.fields
            entries.replace(before, with: after, at: path, collection: collection, group: group)
        }
    }

    private mutating func add(_ size: CollectionSize, to key: [UInt8], in commit: Commit) {
        var change: ScopeChange
        if let known = scopes[key] {
            change = known
        } else if let stored = state.scopes[key] {
            change = ScopeChange(id: stored.id, changed: stored.changed)
        } else {
            lastScope += 1
            change = ScopeChange(id: lastScope, changed: .zero)
        }
        change.size += size
        change.changed = commit.sequence
        scopes[key] = change
    }

    /// The statements, those of the entries made when they are needed.
    var statements: some Sequence<EngineStatement> {
        let (upserts, deletions) = documentStatements
        let first = [commitStatement, changeStatement, upserts, deletions, scopeStatement, clientStatement].compactMap(\.self)
        var last = [EngineStatement("COMMIT")]
        if transaction.configuration.usesNotifications, !batch.commits.isEmpty {
            last.insert(
                EngineStatement(
                    "SELECT pg_notify('\(CommitTransaction.channel)', CAST($1::bigint AS TEXT))",
                    .integer(transaction.database)
                ),
                at: 0
            )
        }
        return [AnySequence(first), AnySequence(entries.statements), AnySequence(last)].joined()
    }

    private var commitStatement: EngineStatement? {
        guard !batch.commits.isEmpty else { return nil }
        return EngineStatement(
            """
            INSERT INTO hearth.commits (db, seq, time, author, bytes, token, format, term)
            SELECT $1::bigint, seq, time, author, bytes, token, \(EngineSchema.version), $7::bigint
            FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[]) AS r (seq, time, author, bytes, token)
            """,
            .integer(transaction.database),
            .integers(batch.commits.map { Int64($0.sequence.rawValue) }),
            .integers(batch.commits.map(\.time.microseconds)),
            .byteStrings(batch.commits.map { $0.author.map { Array($0.utf8) } }),
            .integers(batch.commits.map { Int64($0.byteCount) }),
            .byteStrings(tokens),
            .integer(state.term)
        )
    }

    private var changeStatement: EngineStatement? {
        var numbers: (sequence: [Int64?], n: [Int64?], collection: [Int64?], group: [Int64?]) = ([], [], [], [])
        var documents: (name: [[UInt8]?], path: [[UInt8]?], before: [[UInt8]?], after: [[UInt8]?]) = ([], [], [], [])
        var times: (created: [Int64?], updated: [Int64?], after: [Int64?]) = ([], [], [])
        for commit in batch.commits {
            for (n, change) in commit.changes.enumerated() {
                numbers.sequence.append(Int64(commit.sequence.rawValue))
                numbers.n.append(Int64(n))
                numbers.collection.append(scopeID(.collection(change.path.collection)))
                numbers.group.append(scopeID(.group(change.path.collection.id)))
                documents.name.append(EngineKey.name(change.path))
                documents.path.append(Array(change.path.string.utf8))
                documents.before.append(change.before?.fieldsJSON)
                documents.after.append(change.after?.fieldsJSON)
                times.created.append(change.before?.createTime.microseconds)
                times.updated.append(change.before?.updateTime.microseconds)
                times.after.append(change.after?.createTime.microseconds)
            }
        }
        guard !numbers.n.isEmpty else { return nil }
        return EngineStatement(
            """
            INSERT INTO hearth.changes (db, seq, n, collection, collection_group, name, path,
                before_fields, after_fields, before_created, before_updated, after_created)
            SELECT $1::bigint, r.* FROM unnest(
                $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[],
                $10::bigint[], $11::bigint[], $12::bigint[]
            ) AS r
            """,
            .integer(transaction.database),
            .integers(numbers.sequence),
            .integers(numbers.n),
            .integers(numbers.collection),
            .integers(numbers.group),
            .byteStrings(documents.name),
            .byteStrings(documents.path),
            .byteStrings(documents.before),
            .byteStrings(documents.after),
            .integers(times.created),
            .integers(times.updated),
            .integers(times.after)
        )
    }

    /// The statements for the documents as of the last commit of the batch.
    private var documentStatements: (upserts: EngineStatement?, deletions: EngineStatement?) {
        var written: [EncodedDocument] = []
        var deleted: [[UInt8]?] = []
        for path in batch.changedPaths {
            if let document = batch.image(of: path)?.encoded {
                written.append(document)
            } else {
                deleted.append(EngineKey.name(path))
            }
        }
        let upserts = EngineStatement(
            """
            INSERT INTO hearth.documents (db, name, path, collection, collection_group, fields, created, updated)
            SELECT $1::bigint, r.* FROM unnest(
                $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bigint[], $8::bigint[]
            ) AS r
            ON CONFLICT (db, name) DO UPDATE
            SET fields = excluded.fields, created = excluded.created, updated = excluded.updated
            """,
            .integer(transaction.database),
            .byteStrings(written.map { EngineKey.name($0.path) }),
            .byteStrings(written.map { Array($0.path.string.utf8) }),
            .integers(written.map { scopeID(.collection($0.path.collection)) }),
            .integers(written.map { scopeID(.group($0.path.collection.id)) }),
            .byteStrings(written.map(\.fieldsJSON)),
            .integers(written.map(\.createTime.microseconds)),
            .integers(written.map(\.updateTime.microseconds))
        )
        let deletions = EngineStatement(
            "DELETE FROM hearth.documents WHERE db = $1::bigint AND name = ANY($2::bytea[])",
            .integer(transaction.database),
            .byteStrings(deleted)
        )
        return (written.isEmpty ? nil : upserts, deleted.isEmpty ? nil : deletions)
    }

    private var scopeStatement: EngineStatement? {
        guard !scopes.isEmpty else { return nil }
        // In one order, so that two transactions never wait for each other.
        let changes = scopes.sorted { $0.value.id < $1.value.id }
        return EngineStatement(
            """
            INSERT INTO hearth.scopes (db, id, key, documents, bytes, changed)
            SELECT $1::bigint, r.* FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[]) AS r
            ON CONFLICT (db, id) DO UPDATE SET documents = scopes.documents + excluded.documents,
                bytes = scopes.bytes + excluded.bytes, changed = excluded.changed
            """,
            .integer(transaction.database),
            .integers(changes.map(\.value.id)),
            .byteStrings(changes.map(\.key)),
            .integers(changes.map { Int64($0.value.size.documentCount) }),
            .integers(changes.map { Int64($0.value.size.byteCount) }),
            .integers(changes.map { Int64($0.value.changed.rawValue) })
        )
    }

    private var clientStatement: EngineStatement? {
        let clients = batch.receipts
        guard !clients.isEmpty else { return nil }
        return EngineStatement(
            """
            INSERT INTO hearth.clients (db, client, last, last_use, receipts)
            SELECT $1::bigint, r.* FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[]) AS r
            ON CONFLICT (db, client) DO UPDATE
            SET last = excluded.last, last_use = excluded.last_use, receipts = excluded.receipts
            """,
            .integer(transaction.database),
            .byteStrings(clients.map(\.key.bytes)),
            .integers(clients.map { Int64(clamping: $0.value.lastCommitted) }),
            .integers(clients.map(\.value.lastUse.microseconds)),
            .byteStrings(clients.map { client, receipts in receipts.encoded(of: client, includingRefusals: true) })
        )
    }

    private func scopeID(_ scope: ReadScope) -> Int64? { scopes[scope.key]?.id }
}

extension Commit {
    /// The approximate size of its changes.
    fileprivate var byteCount: Int {
        changes.reduce(128) { sum, change in
            sum + 256 + (change.before?.fieldsJSON.count ?? 0) + (change.after?.fieldsJSON.count ?? 0)
        }
    }
}
