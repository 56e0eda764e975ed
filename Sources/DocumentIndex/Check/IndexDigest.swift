internal import DocumentModel
internal import GRDB
internal import UTF8Text

/// The hash of each document's rows in an index, without its entries and vectors.
///
/// It is read from whole tables, in their order, which takes a fraction of the time of a look-up of each document. Documents
/// whose rows have the expected hash need no look-up. It takes about 30 bytes of memory a document.
package struct IndexDigest: Sendable {
    private struct Rows {
        /// The sum of the hashes of the rows.
        var sum: UInt64
        /// The hash of the document's row among all documents.
        var name: UInt64 = 0
    }

    /// The IDs of the contents in ascending order.
    private var contentIDs: [Int64] = []
    /// The rows that belong to each of the contents.
    private var rows: [Rows] = []
    /// The positions of documents by the hash of their names.
    private var slots = HashSlots()
    /// The number of documents by scope, for scopes with any.
    private(set) var documentCounts: [Int64: Int] = [:]
    /// The reason why the index is damaged; `nil` if the tables could be read.
    private(set) var damage: String?

    /// Reads the tables.
    init(_ database: Database) throws {
        let count =
            try Int.fetchOne(database, sql: "SELECT documents FROM sizes WHERE scope = \(IndexCatalog.allDocuments)") ?? 0
        // A damaged index may have any number.
        let expectedCount = min(max(count, 0), 1 << 22)
        contentIDs.reserveCapacity(expectedCount)
        rows.reserveCapacity(expectedCount)
        let contents = try IndexStatement("SELECT id, entries, bytes FROM contents ORDER BY id", database)
        defer { contents.reset() }
        while try contents.step() {
            contentIDs.append(contents.integer(0))
            rows.append(Rows(sum: Self.hash(ofContents: contents.bytes(1), byteCount: contents.integer(2))))
        }
        slots = HashSlots(minimumCapacity: rows.count)
        let documents = try IndexStatement("SELECT scope, name, content FROM documents", database)
        defer { documents.reset() }
        var (lastScope, lastCount) = (IndexCatalog.unreadableDocuments, 0)
        while try documents.step() {
            let scope = documents.integer(0)
            // The rows of a scope follow each other.
            if scope != lastScope {
                if lastCount > 0 { documentCounts[lastScope] = lastCount }
                (lastScope, lastCount) = (scope, 0)
            }
            lastCount += 1
            // The documents that could not be read have other rows besides, which have no contents.
            guard scope >= IndexCatalog.allDocuments else { continue }
            guard let position = position(ofContent: documents.integer(2)) else {
                throw IndexDatabaseError(corruption: "the contents of a document are missing")
            }
            let hash = Self.hash(ofName: documents.bytes(1), scope: scope)
            rows[position].sum &+= hash
            guard scope == IndexCatalog.allDocuments else { continue }
            rows[position].name = hash
            slots.insert(position, hash) { [rows] in rows[$0].name }
        }
        if lastCount > 0 { documentCounts[lastScope] = lastCount }
    }

    /// Creates the digest of an index that is damaged, for a reason.
    init(damage: String) {
        self.damage = damage
    }

    /// The number of contents.
    var count: Int { rows.count }

    /// Returns the position of a document's contents; `nil` if its rows are not the given ones, or are missing.
    ///
    /// - Parameters:
    ///   - entries: The encoded entries.
    ///   - names: Its name in each scope; the last one is that of all documents.
    func position(of entries: [UInt8], byteCount: Int, _ names: [(scope: Int64, name: [UInt8])]) -> Int? {
        var sum = entries.withUnsafeBytes { Self.hash(ofContents: $0, byteCount: Int64(byteCount)) }
        var last: UInt64 = 0
        for (scope, name) in names {
            last = name.withUnsafeBytes { Self.hash(ofName: $0, scope: scope) }
            sum &+= last
        }
        return slots.position(of: last) { rows[$0].name == last && rows[$0].sum == sum }
    }

    /// Returns the ID of the contents at a position.
    func contentID(at position: Int) -> Int64 { contentIDs[position] }

    /// Returns the position of the contents with an ID; `nil` if there are none.
    func position(ofContent id: Int64) -> Int? {
        // Without deletions the IDs are consecutive.
        if let first = contentIDs.first, let distance = Int(exactly: id.subtractingReportingOverflow(first).partialValue),
            contentIDs.indices.contains(distance), contentIDs[distance] == id
        {
            return distance
        }
        var (low, high) = (0, contentIDs.count)
        while low < high {
            let middle = (low + high) / 2
            if contentIDs[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < contentIDs.count && contentIDs[low] == id ? low : nil
    }

    private static func hash(ofContents entries: UnsafeRawBufferPointer, byteCount: Int64) -> UInt64 {
        SeededHash.hash(entries, UInt64(bitPattern: byteCount))
    }

    private static func hash(ofName name: UnsafeRawBufferPointer, scope: Int64) -> UInt64 {
        SeededHash.hash(name, ~UInt64(bitPattern: scope))
    }
}

/// A set of positions in an array, in a bit each.
struct PositionSet: Sendable {
    private var words: [UInt64]

    /// Creates an empty set of positions less than `count`.
    init(count: Int) {
        words = Array(repeating: 0, count: (count + 63) / 64)
    }

    /// The number of positions in the set.
    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    func contains(_ position: Int) -> Bool {
        words[position / 64] >> (position % 64) & 1 == 1
    }

    mutating func insert(_ position: Int) {
        words[position / 64] |= 1 << (position % 64)
    }

    /// Adds the positions of another set for the same array.
    mutating func formUnion(_ other: PositionSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }
}
