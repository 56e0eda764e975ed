package import DocumentModel
internal import GRDB
internal import GRDBSQLite
package import SyncEngine
internal import UTF8Text

extension PersistentCache {
    /// The number of the last transaction that saved documents.
    package var lastChange: ChangeNumber {
        get throws(StatusError) {
            try cache.read { try $0.cacheState("lastChange") }
        }
    }

    /// Returns the cached documents at some paths.
    package func documents(at paths: Set<DocumentPath>) throws(StatusError) -> [DocumentPath: RemoteDocument] {
        guard !paths.isEmpty else { return [:] }
        return try cache.read { database in
            var collections = CollectionLookup(database)
            let lookup = try CacheStatement("\(Self.selection) WHERE collection = ? AND name = ?", database)
            var documents: [DocumentPath: RemoteDocument] = [:]
            for path in paths {
                guard let collection = try collections.collection(at: path.collection), collection.mayHaveDocuments else {
                    continue
                }
                lookup.bind(collection.id, at: 1)
                lookup.bind(path.id.key.string, at: 2)
                documents[path] = try lookup.firstRow { try RemoteDocument($0, at: path) }
            }
            return documents
        }
    }

    /// Calls `visit` with the existing documents of a source that were saved after a change.
    package func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) {
        try cache.read { database in
            let collections = try database.collections(in: source, changedAfter: change)
            guard !collections.isEmpty else { return }
            // The partial index has no other states.
            let scan = try CacheStatement(
                uncached: "\(Self.selection) WHERE collection = ? AND state = 0 AND changed > ?",
                database
            )
            for (id, collection) in collections {
                scan.bind(id, at: 1)
                scan.bind(change, at: 2)
                try scan.forEachRow { row in
                    let document = try RemoteDocument(row, at: collection.document(DocumentPath.ID(row.text(0))))
                    try VisitorError.wrapping { () throws(StatusError) in try visit(document) }
                }
            }
        }
    }

    /// Saves documents with the next change number.
    package mutating func save(_ documents: [RemoteDocument]) throws(StatusError) {
        guard !documents.isEmpty else { return }
        try write(to: cache) { [definitions] database in
            var writer = try DocumentWriter(database, change: database.cacheState("lastChange") + 1, definitions)
            for document in documents { try writer.save(document) }
            try writer.finish()
        }
    }

    /// Removes documents.
    package mutating func removeDocuments(at paths: Set<DocumentPath>) throws(StatusError) {
        guard !paths.isEmpty else { return }
        try write(to: cache) { [definitions] database in
            var collections = CollectionLookup(database)
            let lookup = try CacheStatement("SELECT id, bytes FROM document WHERE collection = ? AND name = ?", database)
            let deletion = try CacheStatement("DELETE FROM document WHERE id = ?", database)
            let maintainer = try IndexMaintainer(database, definitions)
            var (byteCount, touched) = (Int64(0), Set<Int64>())
            for path in paths {
                guard let collection = try collections.id(of: path.collection) else { continue }
                lookup.bind(collection, at: 1)
                lookup.bind(path.id.key.string, at: 2)
                let found = try lookup.firstRow { (id: try $0.integer(0), bytes: try $0.integer(1)) }
                guard let found else { continue }
                if let maintainer {
                    let fields = try maintainer.fields(of: found.id, in: path.collection)
                    try maintainer.update(found.id, at: path, from: fields, to: nil)
                }
                deletion.bind(found.id, at: 1)
                try deletion.run()
                byteCount += found.bytes
                touched.insert(collection)
            }
            guard !touched.isEmpty else { return }
            try database.addToByteCount(-byteCount)
            try database.removeEmptyCollections(touched)
        }
    }

    /// The columns from which a document is made.
    static let documentColumns =
        "document.name, state, isCommitted, updateTime, createTime, epoch, document.changed, fields"

    private static let selection = "SELECT \(documentColumns) FROM document"
}

extension RemoteDocument {
    /// Creates a document from a row of ``PersistentCache/documentColumns``.
    init(_ row: CacheRow, at path: DocumentPath) throws {
        let content: Content =
            switch DocumentState(rawValue: try row.integer(1)) {
            case .found: .found(try StoredJSON.fields(row.bytes(7)), createTime: try row.optionalTime(4))
            case .missing: .missing
            case .unknown: .unknown
            case nil: throw CacheDatabaseError(corruption: "a document has an unknown state")
            }
        self.init(
            path: path,
            content: content,
            version: try row.time(3),
            epoch: try row.optionalText(5),
            hasCommittedMutations: try row.integer(2) != 0,
            change: try row.number(6)
        )
    }
}

/// Saves documents with one change number.
private struct DocumentWriter {
    private let database: Database
    private let change: ChangeNumber
    private let lastUse: UInt64
    private var collections: CollectionLookup
    private var byteCount: Int64 = 0
    private let lookup: CacheStatement
    private let update: CacheStatement
    private let insertion: CacheStatement
    private let maintainer: IndexMaintainer?

    init(_ database: Database, change: ChangeNumber, _ definitions: IndexDefinitions) throws {
        self.database = database
        self.change = change
        lastUse = try database.cacheState("lastUse")
        collections = CollectionLookup(database)
        lookup = try CacheStatement("SELECT id, bytes FROM document WHERE collection = ? AND name = ?", database)
        update = try CacheStatement(
            """
            UPDATE document SET state = ?1, isCommitted = ?2, updateTime = ?3, createTime = ?4, epoch = ?5, changed = ?6, lastUse = ?7,
                bytes = ?8, fields = ?9
            WHERE id = ?10
            """,
            database
        )
        insertion = try CacheStatement(
            """
            INSERT INTO document (
                state, isCommitted, updateTime, createTime, epoch, changed, lastUse, bytes, fields, collection, name, targets
            ) VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
                (SELECT count(*) FROM target_document WHERE collection = ?10 AND name = ?11)
            ) ON CONFLICT (collection, name) DO NOTHING
            """,
            database
        )
        maintainer = try IndexMaintainer(database, definitions)
    }

    mutating func save(_ document: RemoteDocument) throws {
        let collection = try collections.addedCollection(at: document.path.collection, changed: change)
        let name = document.path.id.key.string
        let bytes = Int64(document.byteCount)
        // No document is looked up for the first result of a collection.
        if !collection.mayHaveDocuments, try insert(document, bytes, collection.id, name) { return }
        lookup.bind(collection.id, at: 1)
        lookup.bind(name, at: 2)
        let found = try lookup.firstRow { (id: try $0.integer(0), bytes: try $0.integer(1)) }
        guard let found else {
            _ = try insert(document, bytes, collection.id, name)
            return
        }
        if let maintainer {
            let old = try maintainer.fields(of: found.id, in: document.path.collection)
            try maintainer.update(found.id, at: document.path, from: old, to: document.fields)
        }
        bind(document, bytes, to: update)
        update.bind(found.id, at: 10)
        try update.run()
        byteCount += bytes - found.bytes
    }

    /// Inserts a document. Returns false if it exists.
    private mutating func insert(
        _ document: RemoteDocument,
        _ bytes: Int64,
        _ collection: Int64,
        _ name: String
    ) throws -> Bool {
        bind(document, bytes, to: insertion)
        insertion.bind(collection, at: 10)
        insertion.bind(name, at: 11)
        try insertion.run()
        guard database.changedRowCount == 1 else { return false }
        try maintainer?.update(database.lastInsertedRowID, at: document.path, from: nil, to: document.fields)
        byteCount += bytes
        return true
    }

    private func bind(_ document: RemoteDocument, _ bytes: Int64, to statement: CacheStatement) {
        switch document.content {
        case .found(let fields, let createTime):
            statement.bind(DocumentState.found.rawValue, at: 1)
            statement.bind(createTime, at: 4)
            statement.bind(text: StoredJSON.encode(fields), at: 9)
        case .missing, .unknown:
            statement.bind((document.content == .missing ? DocumentState.missing : .unknown).rawValue, at: 1)
            statement.bind(nil as Timestamp?, at: 4)
            statement.bind(nil as String?, at: 9)
        }
        statement.bind(document.hasCommittedMutations ? 1 : 0, at: 2)
        statement.bind(document.version, at: 3)
        statement.bind(document.epoch, at: 5)
        statement.bind(change, at: 6)
        statement.bind(lastUse, at: 7)
        statement.bind(bytes, at: 8)
    }

    /// Stores the change number and the size.
    func finish() throws {
        try database.setCacheState("lastChange", to: change)
        try database.addToByteCount(byteCount)
    }
}

extension RemoteDocument {
    /// The fields; `nil` if there is no document.
    fileprivate var fields: MapValue? {
        if case .found(let fields, _) = content { fields } else { nil }
    }
}
