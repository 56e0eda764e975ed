internal import DocumentModel

/// What is in `index.sqlite`.
///
/// The index is derived: it can be deleted at any time, and is made anew from the documents' files. Nothing waits for it to be on
/// disk; it tells up to which commit it is complete, and the journal has the rest.
///
/// - `state`: one row: the format, the history that the index belongs to, the last commit that is in it with its time,
///   whether it was made to the end, and its edition: see ``IndexFile``.
/// - `scopes`: numbers for what is searched as one: a collection by its path, and all nested collections with one ID by `/` and
///   the ID.
/// - `fields`: numbers for field paths: each name below its parent, 0 for the top; and for indexes of several fields, below -1.
/// - `rules`: what is indexed beside single fields, and what isn't, by the collections' ID: see ``IndexRuleState``.
/// - `entries`: one row for each value that can be searched for, ordered by (space, value, name). The space is a scope, a field
///   and whether it is the field's value or an element of it when that is an array: see ``IndexSpace``. The value is a
///   ``ValueKey``. The name is the ``NameKey`` of the document's ID in a collection, and of its path in a group.
/// - `documents`: the documents of each scope, ordered by name, with the number of the document's row in `contents`. The scope
///   ``IndexNumbers/all`` has every document by the ``NameKey`` of its path, and no entries.
/// - `contents`: what is in `entries` of a document, so that it can be taken out whatever has become of its file: see
///   ``IndexEntries``; and the document's size by Firestore's formula.
/// - `sizes`: how many documents a scope has, and their sizes together.
/// - `placeSpaces`, `places`: geo points in an R*Tree whose first dimension is the space: see ``IndexPlace``.
///
/// A document in a collection at the top is in its collection's scope only; one in a nested collection is also in the scope of
/// the collection's group. So a collection group is one nested scope and at most one collection at the top.
enum IndexSchema {
    /// The version of all this. An index of another one is made anew.
    static let format = 4
    /// Says that an SQLite file is Hearth's index ("Hrth").
    static let applicationID = 0x4872_7468

    /// What makes an empty index.
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
            space INTEGER NOT NULL, value BLOB NOT NULL, name BLOB NOT NULL, PRIMARY KEY (space, value, name)
        ) WITHOUT ROWID;
        CREATE TABLE documents (
            scope INTEGER NOT NULL, name BLOB NOT NULL, content INTEGER NOT NULL, PRIMARY KEY (scope, name)
        ) WITHOUT ROWID;
        CREATE TABLE contents (id INTEGER PRIMARY KEY, entries BLOB NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE sizes (scope INTEGER PRIMARY KEY, documents INTEGER NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE placeSpaces (id INTEGER PRIMARY KEY, space INTEGER NOT NULL UNIQUE);
        CREATE VIRTUAL TABLE places USING rtree_i32(
            id, minSpace, maxSpace, minLatitude, maxLatitude, minLongitude, maxLongitude, +name BLOB
        );
        PRAGMA application_id = \(applicationID);
        """

    /// The bytes of a page: large enough that the longest key fits into one several times.
    static let pageBytes = 8_192
}

/// What entries are searched as one: a field of a scope's documents.
struct IndexSpace: Hashable, Sendable {
    /// Which of a field's values are entries.
    enum Kind: Int64 {
        /// The value itself.
        case value = 0
        /// Each different element, where the value is an array.
        case element = 1
    }

    /// The number in the database.
    let number: Int64

    /// The space of a field in a scope, by their numbers.
    init(scope: Int64, field: Int64, kind: Kind) {
        self.init(scope: scope, slot: Self.slot(field: field, kind: kind))
    }

    /// The space of a scope and what ``slot(field:kind:)`` gives.
    init(scope: Int64, slot: Int64) {
        number = scope << Self.slotBits | slot
    }

    /// A field and a kind as one number.
    static func slot(field: Int64, kind: Kind) -> Int64 { field << 1 | kind.rawValue }

    /// The field of a slot.
    static func field(ofSlot slot: Int64) -> Int64 { slot >> 1 }

    /// How many fields there can be.
    static let maximumField: Int64 = 1 << (slotBits - 1) - 1
    private static let slotBits: Int64 = 28
}
