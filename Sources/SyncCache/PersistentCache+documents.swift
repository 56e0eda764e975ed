package import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import StrictJSON
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

    /// Calls `visit` with the existing documents of a source that were saved after a change, or with a part of them, in the order of
    /// their collections and changes. Those that are not selected are decoded in part.
    package func visitDocuments(
        in source: StructuredQuery.Source,
        after change: ChangeNumber,
        from position: ScanPosition?,
        maximumCount: Int,
        selecting selector: DocumentSelector?,
        _ visit: (RemoteDocument) throws(StatusError) -> Void
    ) throws(StatusError) -> (count: Int, position: ScanPosition?) {
        try cache.read { database in
            var count = 0
            var last: ScanPosition?
            func read(_ row: CacheRow, in collection: (id: Int64, path: CollectionPath)) throws {
                count += 1
                last = ScanPosition(collection: collection.id, change: try row.number(6), document: try row.integer(8))
                let path = try collection.path.document(DocumentPath.ID(row.text(0)))
                if let document = try RemoteDocument(row, at: path, selector) {
                    try VisitorError.wrapping { () throws(StatusError) in try visit(document) }
                }
            }
            // The partial index has no other states.
            let selection = "SELECT \(Self.documentColumns), id FROM document WHERE collection = ?1 AND state = 0"
            let later = try CacheStatement(uncached: "\(selection) AND changed > ?2 ORDER BY changed, id LIMIT ?3", database)
            let start = position?.collection ?? 0
            try database.visitCollections(in: source, changedAfter: change, from: start) { collection in
                var change = change
                if let position, position.collection == collection.id {
                    change = position.change
                    let rest = try CacheStatement(
                        uncached: "\(selection) AND changed = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
                        database
                    )
                    rest.bind(collection.id, at: 1)
                    rest.bind(change, at: 2)
                    rest.bind(position.document, at: 3)
                    rest.bind(maximumCount, at: 4)
                    try rest.forEachRow { try read($0, in: collection) }
                }
                later.bind(collection.id, at: 1)
                later.bind(change, at: 2)
                later.bind(maximumCount - count, at: 3)
                try later.forEachRow { try read($0, in: collection) }
                return count < maximumCount
            }
            return (count, count < maximumCount ? nil : last)
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
        try self.init(row, at: path, content)
    }

    /// Creates an existing document from such a row; returns `nil` for one that is not selected.
    fileprivate init?(_ row: CacheRow, at path: DocumentPath, _ selector: DocumentSelector?) throws {
        let root = try StoredJSON.root(of: row.bytes(7))
        if let selector {
            guard selector.selects(try StoredJSON.fields(root, among: selector.fields), at: path) else { return nil }
        }
        try self.init(row, at: path, .found(MapValue(json: root), createTime: try row.optionalTime(4)))
    }

    private init(_ row: CacheRow, at path: DocumentPath, _ content: Content) throws {
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
