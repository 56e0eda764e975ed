internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import QueryEngine

/// Writes documents to the index, in a transaction of its connection.
final class IndexWriter {
    /// The caches and buffers that outlive a transaction. They must be reset after a failed one.
    struct Context {
        var catalog = IndexCatalog()
        var encoder = KeyEncoder()
        var changes = EntryChangeBuffer()
        /// The buffered changes to the scopes' sizes.
        fileprivate var sizeChanges: [Int64: CollectionSize] = [:]
        /// The next ID in `contents`; `nil` before the first read.
        fileprivate var nextContentID: Int64?
        /// True if documents are marked as unreadable; `nil` before the first read.
        fileprivate var hasUnreadableDocuments: Bool?
        /// The build states by collection; `nil` before the first read.
        fileprivate var buildStates: [CollectionID: ResolvedIndexBuildState]?

        /// Discards the cached build states after a change.
        mutating func invalidateBuildStates() {
            buildStates = nil
        }

        /// Discards everything, including IDs that a failed transaction may have assigned.
        mutating func reset() {
            self = Context()
        }
    }

    let database: Database
    private let selectDocument: IndexStatement
    private let insertDocument: IndexStatement
    private let deleteDocument: IndexStatement
    private let selectContent: IndexStatement
    private let writeContent: IndexStatement
    private let deleteContent: IndexStatement
    private let insertEntry: IndexStatement
    private let deleteEntry: IndexStatement

    // Without other indexes, SQLite replaces a row of this table without searching for it first.
    private static let insertEntrySQL = "INSERT OR REPLACE INTO entries (space, value, name, isDouble) VALUES (?1, ?2, ?3, ?4)"
    /// The number of buffered size changes that triggers a write.
    private static let maximumSizeChangeCount = 10_000

    init(_ database: Database) throws {
        self.database = database
        selectDocument = try IndexStatement("SELECT content FROM documents WHERE scope = ?1 AND name = ?2", database)
        insertDocument = try IndexStatement("INSERT INTO documents (scope, name, content) VALUES (?1, ?2, ?3)", database)
        deleteDocument = try IndexStatement("DELETE FROM documents WHERE scope = ?1 AND name = ?2", database)
        selectContent = try IndexStatement("SELECT entries, bytes FROM contents WHERE id = ?1", database)
        writeContent = try IndexStatement("INSERT OR REPLACE INTO contents (id, entries, bytes) VALUES (?1, ?2, ?3)", database)
        deleteContent = try IndexStatement("DELETE FROM contents WHERE id = ?1", database)
        insertEntry = try IndexStatement(Self.insertEntrySQL, database)
        deleteEntry = try IndexStatement("DELETE FROM entries WHERE space = ?1 AND value = ?2 AND name = ?3", database)
    }

    /// Writes the current state of documents, each at most once; `nil` fields for a deleted document.
    func apply(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>, _ context: inout Context) throws {
        try stage(documents, &context)
        try flushEntries(&context)
        try flushSizes(&context)
    }

    /// Writes documents like ``apply(_:_:)``, but only buffers the changes to their entries and to the sizes, in the context.
    func stage(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>, _ context: inout Context) throws {
        for (path, fields) in documents { try stage(path, fields, &context) }
    }

    /// Marks documents as unreadable, until they are written.
    func markUnreadable(_ paths: [DocumentPath], _ context: inout Context) throws {
        for path in paths {
            insertDocument.bind(0, at: 3)
            try NameKey(path).bytes.withUnsafeBytes { try run(insertDocument, IndexCatalog.unreadableDocuments, $0) }
            context.hasUnreadableDocuments = true
        }
    }

    private func removeUnreadableMark(of names: Names, _ context: inout Context) throws {
        let hasMarks =
            try context.hasUnreadableDocuments
            ?? (Int.fetchOne(
                database,
                sql: "SELECT 1 FROM documents WHERE scope = ? LIMIT 1",
                arguments: [IndexCatalog.unreadableDocuments]
            ) != nil)
        context.hasUnreadableDocuments = hasMarks
        if hasMarks { try names.path.withUnsafeBytes { try run(deleteDocument, IndexCatalog.unreadableDocuments, $0) } }
    }

    /// Writes the buffered changes to entries, in index order.
    func flushEntries(_ context: inout Context) throws {
        try context.changes.drain { change throws(IndexDatabaseError) in try write(change) }
    }

    /// Inserts or deletes an entry.
    func write(_ change: EntryChange) throws(IndexDatabaseError) {
        let statement = change.isAddition ? insertEntry : deleteEntry
        statement.bind(change.space, at: 1)
        statement.bind(unowned: change.value, at: 2)
        statement.bind(unowned: change.name, at: 3)
        if change.isAddition { statement.bind(change.isDouble ? 1 : 0, at: 4) }
        try statement.run()
    }

    /// Writes the buffered changes to sizes.
    func flushSizes(_ context: inout Context) throws {
        let update = try IndexStatement(
            """
            INSERT INTO sizes (scope, documents, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (scope) DO UPDATE SET documents = documents + excluded.documents, bytes = bytes + excluded.bytes
            """,
            database
        )
        let delete = try IndexStatement("DELETE FROM sizes WHERE scope = ?1 AND documents = 0 AND bytes = 0", database)
        for (scope, change) in context.sizeChanges where change != .zero {
            update.bind(scope, at: 1)
            update.bind(Int64(change.documentCount), at: 2)
            update.bind(Int64(change.byteCount), at: 3)
            try update.run()
            guard change.documentCount < 0 else { continue }
            delete.bind(scope, at: 1)
            try delete.run()
        }
        context.sizeChanges.removeAll(keepingCapacity: context.sizeChanges.count < Self.maximumSizeChangeCount)
    }

    /// Writes the buffered changes to sizes if there are many.
    func flushSizesIfNeeded(_ context: inout Context) throws {
        if context.sizeChanges.count >= Self.maximumSizeChangeCount { try flushSizes(&context) }
    }

    /// Marks the index as complete up to a commit.
    func setPosition(_ sequence: SequenceNumber, _ time: Timestamp?) throws {
        let update = try IndexStatement("UPDATE state SET sequence = ?1, time = ?2, isComplete = 1", database)
        update.bind(Int64(sequence.rawValue), at: 1)
        if let time { update.bind(time.microseconds, at: 2) } else { update.bindNull(at: 2) }
        try update.run()
    }

    /// Sets the edition of the file.
    static func setEdition(_ edition: String, _ database: Database) throws {
        try database.execute(sql: "UPDATE state SET edition = ?", arguments: [edition])
    }
}

extension IndexWriter {
    /// The scopes that contain a document, with the document's name in each.
    struct Names {
        /// The scopes of the document's collection.
        let scopes: IndexCatalog.CollectionScopes
        /// The name in the scopes of the collection group and of all documents.
        let path: [UInt8]
        /// The start of the name in the scope of the collection, which is the last part of the path's.
        let idStart: Int

        /// The name in the scope of the collection.
        var id: ArraySlice<UInt8> { path[idStart...] }
        /// The scope in which the document's vectors are stored; see ``VectorSpace``.
        var vectors: (scope: Int64, name: ArraySlice<UInt8>) { scopes.group.map { ($0, path[...]) } ?? (scopes.collection, id) }
        /// The scopes in which the document's fields are indexed.
        var indexed: [(scope: Int64, name: ArraySlice<UInt8>)] {
            [(scopes.collection, id)] + (scopes.group.map { [($0, path[...])] } ?? [])
        }
    }

    private func names(of path: DocumentPath, creating: Bool, _ context: inout Context) throws -> Names? {
        guard let scopes = try context.catalog.scopes(of: path.collection, creating: creating, in: database) else { return nil }
        context.encoder.removeAll()
        context.encoder.append(path.collection)
        let idStart = context.encoder.bytes.count
        context.encoder.append(path.id)
        // A copy, so that the encoder keeps its buffer.
        return Names(scopes: scopes, path: context.encoder.bytes.withUnsafeBytes { Array($0) }, idStart: idStart)
    }

    /// Calls `body` with each scope that contains a document, and the document's name in it.
    private func forEachScope(of names: Names, _ body: (Int64, UnsafeRawBufferPointer) throws -> Void) rethrows {
        try names.path.withUnsafeBytes { path in
            try body(names.scopes.collection, UnsafeRawBufferPointer(rebasing: path[names.idStart...]))
            if let group = names.scopes.group { try body(group, path) }
            try body(IndexCatalog.allDocuments, path)
        }
    }

    private func stage(_ path: DocumentPath, _ fields: MapValue?, _ context: inout Context) throws {
        guard let names = try names(of: path, creating: fields != nil, &context) else { return }
        try removeUnreadableMark(of: names, &context)
        let contentID = try contentID(of: names)
        let (old, oldByteCount) = try contentID.map { try storedEntries($0) } ?? (IndexEntries(), 0)
        guard let fields else {
            guard let contentID else { return }
            addSizeChange(CollectionSize(documentCount: -1, byteCount: -oldByteCount), names, &context)
            try replace(old, with: IndexEntries(), contentID, names, of: path, &context)
            try replaceVectors(old, with: IndexEntries(), contentID, names)
            try forEachScope(of: names) { scope, name in try run(deleteDocument, scope, name) }
            deleteContent.bind(contentID, at: 1)
            try deleteContent.run()
            return
        }
        // Moved out of the context, to which the encoder needs exclusive access.
        var catalog = context.catalog
        context.catalog = IndexCatalog()
        let new = try IndexEntries(fields, &context.encoder) { name, parent in
            guard let id = try catalog.fieldID(name, under: parent, creating: true, in: database) else {
                throw IndexDatabaseError(corruption: "a field has no ID")
            }
            return id
        }
        context.catalog = catalog
        let byteCount = Document.size(of: fields, at: path)
        addSizeChange(
            CollectionSize(documentCount: contentID == nil ? 1 : 0, byteCount: byteCount - oldByteCount),
            names,
            &context
        )
        if let contentID {
            try replaceVectors(old, with: new, contentID, names)
            guard old.bytes != new.bytes || oldByteCount != byteCount else { return }
            try replace(old, with: new, contentID, names, of: path, &context)
            try write(new, byteCount, contentID)
        } else {
            let contentID = try nextContentID(&context)
            insertDocument.bind(contentID, at: 3)
            try forEachScope(of: names) { scope, name in try run(insertDocument, scope, name) }
            try write(new, byteCount, contentID)
            try replace(old, with: new, contentID, names, of: path, &context)
            try replaceVectors(old, with: new, contentID, names)
        }
    }

    private func contentID(of names: Names) throws -> Int64? {
        defer { selectDocument.reset() }
        selectDocument.bind(names.scopes.collection, at: 1)
        return try names.id.withUnsafeBytes { name in
            selectDocument.bind(unowned: name, at: 2)
            return try selectDocument.step() ? selectDocument.integer(0) : nil
        }
    }

    private func storedEntries(_ contentID: Int64) throws -> (entries: IndexEntries, byteCount: Int) {
        defer { selectContent.reset() }
        selectContent.bind(contentID, at: 1)
        guard try selectContent.step() else { throw IndexDatabaseError(corruption: "a document has no row in contents") }
        return (try IndexEntries(stored: selectContent.bytes(0)), Int(selectContent.integer(1)))
    }

    private func write(_ entries: IndexEntries, _ byteCount: Int, _ contentID: Int64) throws {
        try entries.bytes.withUnsafeBytes { bytes in
            writeContent.bind(contentID, at: 1)
            writeContent.bind(unowned: bytes, at: 2)
            writeContent.bind(Int64(byteCount), at: 3)
            try writeContent.run()
        }
    }

    private func run(_ statement: IndexStatement, _ scope: Int64, _ name: UnsafeRawBufferPointer) throws {
        statement.bind(scope, at: 1)
        statement.bind(unowned: name, at: 2)
        try statement.run()
    }

    private func nextContentID(_ context: inout Context) throws -> Int64 {
        let id = try context.nextContentID ?? (Int64.fetchOne(database, sql: "SELECT max(id) FROM contents") ?? 0) + 1
        context.nextContentID = id + 1
        return id
    }

    private func addSizeChange(_ change: CollectionSize, _ names: Names, _ context: inout Context) {
        context.sizeChanges[names.scopes.collection, default: .zero] += change
        if let group = names.scopes.group { context.sizeChanges[group, default: .zero] += change }
        context.sizeChanges[IndexCatalog.allDocuments, default: .zero] += change
    }
}

extension IndexWriter {
    /// Replaces the entries of a document with those of the desired indexing policy.
    func backfill(_ path: DocumentPath, _ context: inout Context) throws {
        guard let names = try names(of: path, creating: false, &context), let contentID = try contentID(of: names) else { return }
        let entries = try storedEntries(contentID).entries
        try replace(entries, with: entries, contentID, names, of: path, &context)
    }

    /// Buffers the changes to a document's entries, according to the indexing policy of its collection.
    private func replace(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ contentID: Int64,
        _ names: Names,
        of path: DocumentPath,
        _ context: inout Context
    ) throws {
        guard let state = try buildState(of: path.collection, &context) else {
            return try replace(old, with: new, contentID, names, &context)
        }
        let desired = try state.desired.entries(from: new, &context.catalog, database)
        let maintained = try state.maintained.entries(from: old, &context.catalog, database)
        guard !state.isBackfilled else { return try replace(maintained, with: desired, contentID, names, &context) }
        let readable = try state.readable.entries(from: old, &context.catalog, database)
        let scopes = context.changes.append(names)
        context.changes.append(from: maintained, to: desired, scopes: scopes, adding: false)
        context.changes.append(from: readable, to: desired, scopes: scopes, removing: false)
        try replaceGeoPoints(old, with: desired, contentID, names, isForced: true)
    }

    private func replace(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ contentID: Int64,
        _ names: Names,
        _ context: inout Context
    ) throws {
        let scopes = context.changes.append(names)
        context.changes.append(from: old, to: new, scopes: scopes)
        try replaceGeoPoints(old, with: new, contentID, names)
    }

    private func buildState(of collection: CollectionPath, _ context: inout Context) throws -> ResolvedIndexBuildState? {
        let states =
            try context.buildStates
            ?? IndexBuildState.fetchAll(database).mapValues { try ResolvedIndexBuildState($0, &context.catalog, database) }
        context.buildStates = states
        return states.isEmpty ? nil : states[collection.id]
    }
}

extension IndexEntries {
    /// Decodes entries in `contents`.
    ///
    /// - Throws: A corruption error when the bytes are invalid.
    init(stored bytes: UnsafeRawBufferPointer) throws(IndexDatabaseError) {
        guard let entries = IndexEntries(bytes: bytes) else {
            throw IndexDatabaseError(corruption: "the entries of a document cannot be decoded")
        }
        self = entries
    }
}
