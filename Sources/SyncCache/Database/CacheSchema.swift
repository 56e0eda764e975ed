/// The schema of a file of the cache, by the migrations that lead to it.
///
/// `user_version` is the format: the number of migrations that the file has had. A released migration never changes, so that a file
/// of any earlier format can be brought to the current one.
struct CacheSchema {
    /// SQLite's application ID, which tells the file from others.
    let applicationID: Int64
    /// The statements that lead from each format to the next; the first ones from an empty file.
    let migrations: [String]

    /// The current format.
    var format: Int { migrations.count }

    /// The page size of new files. A lost first page can be replaced by that of a new file with the same page size.
    static let pageBytes = 4_096
}

extension CacheSchema {
    /// The schema of `queue.sqlite` ("Hrtq"): what the user has written, and the server has not answered.
    ///
    /// - `queue`: the state of each user's queue. The user is `=` and the ID, or empty before anybody has signed in.
    /// - `batch`: the batches. `bytes` is the approximate size, `checksum` the ``RowChecksum`` of the other columns.
    /// - `batch_document`: the documents that batches write.
    /// - `overlay`: the net effect of a user's batches on each document: it can be computed from them.
    /// - `rejected`: batches that the server has rejected and the application has not seen, in this order.
    static let queue = CacheSchema(
        applicationID: 0x4872_7471,
        migrations: [
            """
            CREATE TABLE queue (
                user TEXT PRIMARY KEY, client BLOB NOT NULL, preceding INTEGER NOT NULL, last INTEGER NOT NULL,
                decided INTEGER NOT NULL, sent INTEGER NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL
            ) WITHOUT ROWID;
            CREATE TABLE batch (
                id INTEGER PRIMARY KEY, user TEXT NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL,
                bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, base TEXT, writes TEXT NOT NULL
            );
            CREATE UNIQUE INDEX batch_number ON batch (user, number);
            CREATE TABLE batch_document (
                path TEXT NOT NULL, user TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (path, user, number)
            ) WITHOUT ROWID;
            CREATE TABLE overlay (
                id INTEGER PRIMARY KEY, user TEXT NOT NULL, collection TEXT NOT NULL, name TEXT NOT NULL, batch INTEGER NOT NULL,
                kind INTEGER NOT NULL, requiresDocument INTEGER NOT NULL, mask TEXT, pending TEXT, fields TEXT
            );
            CREATE UNIQUE INDEX overlay_document ON overlay (user, collection, name);
            CREATE TABLE rejected (
                id INTEGER PRIMARY KEY, user TEXT NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL, code INTEGER NOT NULL,
                message TEXT NOT NULL, checksum INTEGER NOT NULL, writes TEXT NOT NULL
            );
            CREATE INDEX rejected_number ON rejected (user, number);
            """
        ]
    )

    /// The schema of `cache.sqlite` ("Hrtc"): what the server has told, which can be read again.
    ///
    /// - `state`: one row: the last numbers, the size of the documents, the user to whom the overlays belong, and the ``ServerClock``.
    /// - `collection`: the collections, with the last change of a document.
    /// - `document`: the documents. `state` is the ``DocumentState``, `targets` the number of targets with the document.
    /// - `target`: the targets, by their canonical text.
    /// - `target_document`: the documents of the targets, which need not be cached.
    /// - `named_query`: the queries that bundles have brought.
    /// - `field_index`: the indexes. `filled` is the last document with an entry; null if all have theirs. `lastUse` is that of a query.
    ///   One that is removed has its ID as its definition, and stays until its entries are deleted.
    /// - `entry`: the entries of the indexes, by the order-preserving keys of their values.
    static let cache = CacheSchema(
        applicationID: 0x4872_7463,
        migrations: [
            """
            CREATE TABLE state (
                id INTEGER PRIMARY KEY CHECK (id = 1), lastChange INTEGER NOT NULL, lastUse INTEGER NOT NULL,
                lastTarget INTEGER NOT NULL, bytes INTEGER NOT NULL, overlayUser TEXT
            );
            INSERT INTO state VALUES (1, 0, 0, 0, 0, NULL);
            CREATE TABLE collection (
                id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, changed INTEGER NOT NULL
            );
            CREATE INDEX collection_name ON collection (name, changed);
            CREATE TABLE document (
                id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name TEXT NOT NULL, state INTEGER NOT NULL,
                isCommitted INTEGER NOT NULL, updateTime INTEGER NOT NULL, createTime INTEGER, epoch TEXT,
                changed INTEGER NOT NULL, lastUse INTEGER NOT NULL, targets INTEGER NOT NULL, bytes INTEGER NOT NULL, fields TEXT
            );
            CREATE UNIQUE INDEX document_name ON document (collection, name);
            CREATE INDEX document_changed ON document (collection, changed) WHERE state = 0;
            CREATE INDEX document_use ON document (lastUse) WHERE targets = 0;
            CREATE TABLE target (
                id INTEGER PRIMARY KEY, target TEXT NOT NULL UNIQUE, token TEXT, snapshotTime INTEGER, syncedChange INTEGER,
                lastUse INTEGER NOT NULL
            );
            CREATE INDEX target_use ON target (lastUse);
            CREATE TABLE target_document (
                target INTEGER NOT NULL, collection INTEGER NOT NULL, name TEXT NOT NULL,
                PRIMARY KEY (target, collection, name)
            ) WITHOUT ROWID;
            CREATE INDEX target_document_name ON target_document (collection, name);
            CREATE TABLE named_query (name TEXT PRIMARY KEY, readTime INTEGER NOT NULL, query TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE field_index (id INTEGER PRIMARY KEY, definition TEXT NOT NULL UNIQUE, filled INTEGER);
            CREATE TABLE entry (
                field_index INTEGER NOT NULL, key BLOB NOT NULL, document INTEGER NOT NULL,
                PRIMARY KEY (field_index, key, document)
            ) WITHOUT ROWID;
            """,
            "ALTER TABLE field_index ADD COLUMN lastUse INTEGER NOT NULL DEFAULT 0;",
            """
            ALTER TABLE field_index ADD COLUMN isRemoved INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE state ADD COLUMN clockOffset INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE state ADD COLUMN serverTime INTEGER;
            """,
        ]
    )
}

/// The state of a document as the column `state` has it.
enum DocumentState: Int64 {
    case found = 0
    case missing = 1
    case unknown = 2
}
