internal import GRDB

/// A range of rows of `vectors`: those of one field, of all documents in a top-level collection, or of all documents in nested
/// collections with one ID.
///
/// A document's vector is stored once, and independently of exemptions, so that it need not be read from the document when an
/// exemption ends. The ID of its row is the ID of the space in `vectorSpaces`, followed by the ID of the document's row in
/// `contents`. So the vectors of a space are adjacent, and new documents are appended to them. The table has row IDs because its
/// rows can then be as long as a page without overflow pages.
struct VectorSpace {
    /// The ID of the row before the first possible one.
    let base: Int64

    private static let contentBits: Int64 = 38
    private static let maximumID: Int64 = 1 << (63 - contentBits) - 1

    /// The row IDs of the space.
    var rows: Range<Int64> { base + 1..<base + 1 << Self.contentBits }

    private init(id: Int64) throws(IndexDatabaseError) {
        guard (1...Self.maximumID).contains(id) else {
            throw IndexDatabaseError(corruption: "there are more than \(Self.maximumID) fields with vectors")
        }
        base = id << Self.contentBits
    }

    /// Returns the ID of a document's row.
    func row(_ contentID: Int64) throws(IndexDatabaseError) -> Int64 {
        guard rows.contains(base + contentID) else {
            throw IndexDatabaseError(corruption: "there are too many IDs of documents")
        }
        return base + contentID
    }

    /// Finds the space of a field's entries; `nil` if it has none and `creating` is `false`.
    static func find(_ space: IndexSpace, creating: Bool, _ database: Database) throws -> VectorSpace? {
        let select = try IndexStatement("SELECT id FROM vectorSpaces WHERE space = ?1", database)
        defer { select.reset() }
        select.bind(space.id, at: 1)
        if try select.step() { return try VectorSpace(id: select.integer(0)) }
        guard creating else { return nil }
        let insert = try IndexStatement("INSERT INTO vectorSpaces (space) VALUES (?1)", database)
        insert.bind(space.id, at: 1)
        try insert.run()
        return try VectorSpace(id: database.lastInsertedRowID)
    }
}
