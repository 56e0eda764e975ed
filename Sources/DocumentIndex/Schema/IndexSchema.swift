internal import DocumentModel
internal import QueryEngine

/// The schema of `index.sqlite`.
///
/// The index is derived: it can be deleted at any time, and is rebuilt from the document files. It is not synced on commit; it
/// records the last commit that it contains, and the journal supplies the later ones.
///
/// - `state`: the ``IndexFileHeader``, one row: the format, the epoch, the last commit with its time, whether the build was
///   completed, and the edition.
/// - `scopes`: IDs of the sets of documents that are scanned together: a collection, named by its path; all nested collections with
///   one ID, named by `/` and the ID.
/// - `fields`: IDs of field paths, each name under its parent's ID, 0 for top-level fields; and of composite indexes, under -1.
/// - `rules`: the ``IndexBuildState`` of composite indexes and exemptions, by collection ID.
/// - `entries`: the index entries, ordered by (space, value, name). The space combines a scope, a field and whether the entry is the
///   field's value or an array element: see ``IndexSpace``. The value is a ``ValueKey`` or a ``CompositeKey``. The name is the
///   ``NameKey`` of the document ID in a collection, and of the document path in a collection group. `isDouble` is 1 if the entry
///   is the value of a field that is a double: the keys of 1 and 1.0 are equal, but sums tell them apart.
/// - `documents`: the documents of each scope, ordered by name, with the ID of their row in `contents`. The scope
///   ``IndexCatalog/allDocuments`` has every document by the ``NameKey`` of its path, and no entries.
///   ``IndexCatalog/unreadableDocuments`` has those without entries because their files could not be read.
/// - `contents`: the encoded ``IndexEntries`` of a document, so that they can be removed regardless of what happened to its file;
///   and the document's size by Firestore's formula.
/// - `sizes`: the number and the total size of a scope's documents.
/// - `vectorSpaces`, `vectors`: the vectors in single precision, as a ``PackedVector`` each, so that a search compares them without
///   reading documents: see ``VectorSpace``.
/// - `placeSpaces`, `places`: geo points in an R*Tree whose first dimension is the space: see ``GeoIndexBox``.
///
/// A document of a top-level collection is in the scope of its collection only; a document of a nested collection is also in the
/// scope of the collection group. So a collection group consists of one nested scope and at most one top-level collection.
enum IndexSchema {
    /// The format version. An index in another version is rebuilt.
    static let format = 6
    /// The SQLite application ID of Hearth's index ("Hrth").
    static let applicationID = 0x4872_7468

    /// The statements that create an empty index.
    static let statements = """
        CREATE TABLE state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            format INTEGER NOT NULL, keys INTEGER NOT NULL,
            epoch TEXT NOT NULL, sequence INTEGER NOT NULL, time INTEGER, isComplete INTEGER NOT NULL,
            edition TEXT NOT NULL
        );
        CREATE TABLE scopes (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
        CREATE TABLE rules (
            collection TEXT PRIMARY KEY, present TEXT NOT NULL, ready TEXT NOT NULL, target TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE fields (
            id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL, UNIQUE (parent, name)
        );
        CREATE TABLE entries (
            space INTEGER NOT NULL, value BLOB NOT NULL, name BLOB NOT NULL, isDouble INTEGER NOT NULL,
            PRIMARY KEY (space, value, name)
        ) WITHOUT ROWID;
        CREATE TABLE documents (
            scope INTEGER NOT NULL, name BLOB NOT NULL, content INTEGER NOT NULL, PRIMARY KEY (scope, name)
        ) WITHOUT ROWID;
        CREATE TABLE contents (id INTEGER PRIMARY KEY, entries BLOB NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE sizes (scope INTEGER PRIMARY KEY, documents INTEGER NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE vectorSpaces (id INTEGER PRIMARY KEY, space INTEGER NOT NULL UNIQUE);
        CREATE TABLE vectors (
            id INTEGER PRIMARY KEY, name BLOB NOT NULL, isExact INTEGER NOT NULL, vector BLOB NOT NULL
        );
        CREATE TABLE placeSpaces (id INTEGER PRIMARY KEY, space INTEGER NOT NULL UNIQUE);
        CREATE VIRTUAL TABLE places USING rtree_i32(
            id, minSpace, maxSpace, minLatitude, maxLatitude, minLongitude, maxLongitude, +name BLOB
        );
        PRAGMA application_id = \(applicationID);
        """

    /// The page size: a multiple of the longest key.
    static let pageBytes = 8_192
}

/// The key space of index entries that are scanned together: a field of a scope's documents.
struct IndexSpace: Hashable, Sendable {
    /// The ID in the database.
    let id: Int64

    /// Creates the space of a field in a scope, by their IDs.
    init(scope: Int64, field: Int64, kind: IndexEntries.Kind) {
        self.init(scope: scope, slot: IndexEntries.slot(field: field, kind: kind))
    }

    /// Creates the space of a slot in a scope.
    init(scope: Int64, slot: Int64) {
        id = scope << Self.slotBits | slot
    }

    /// The maximum field ID.
    static let maximumField: Int64 = 1 << (slotBits - 1) - 1
    private static let slotBits: Int64 = 28
}
