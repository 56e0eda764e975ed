package import DocumentModel
package import DocumentStore
internal import GRDB
internal import QueryEngine
internal import UTF8Text

/// A comparison of the index of a closed database with the documents.
///
/// The stored entries of each document are compared with those of its fields, and the entries and geo points as a whole by a sum of
/// hashes. An index that was not closed cleanly is skipped: the next startup verifies it.
///
/// The documents may be divided among several threads: each compares its own with a ``makePart(_:)``, and the parts are merged
/// at the end. ``readTotals()`` and ``pageDamage()`` read the file as a whole at the same time.
package struct IndexCheck: Sendable {
    private let connection: DatabaseQueue
    private let folder: any IndexFolder
    private let folderPath: String
    private let expected: (sequence: SequenceNumber, edition: String?)
    /// The rows of all documents; `nil` in the whole check before parts are merged.
    private var digest: IndexDigest?
    private var catalog = IndexCatalog()
    private var encoder = KeyEncoder()
    /// The contents of the documents that have files, by their positions in the digest.
    private var seen: PositionSet
    /// The sum of the hashes of all entries and geo points that should exist.
    private var hashSum: UInt64 = 0
    /// The number of vectors that should exist.
    private var vectorCount = 0
    /// The number of documents whose files cannot be read.
    private var skippedCount = 0
    /// The expected sizes of the scopes.
    private var sizes: [Int64: CollectionSize] = [:]
    /// The indexing policies by collection; `nil` before they are read.
    private var policies: [CollectionID: ResolvedIndexingPolicy]?
    /// True if all entries conform to the policies; `false` if a backfill is unfinished.
    private var isBackfilled = true
    /// The number of documents by discrepancy.
    private var counts: [Discrepancy: Int] = [:]
    /// The document with a discrepancy whose file is the first by name.
    private var first: (path: DocumentPath, file: String)?
    /// The reason why the index is damaged as a whole.
    private var damage: String?

    /// A fault in an index. At most one is reported, since one repair fixes everything.
    package enum Finding: Sendable {
        /// The index is damaged as a whole, for a reason.
        case damaged(String)
        /// The entries or the structure are damaged, for a reason, which only a complete check finds.
        case damagedEntries(String)
        /// The entries of documents differ from their fields, with a summary and the first such document.
        case outdated(String, first: DocumentPath, file: String)
    }

    /// A difference between the index and a document file.
    private enum Discrepancy: String, CaseIterable {
        case missing
        case outdated
        case orphaned
    }

    /// The state of the tables as a whole.
    package struct Totals: Sendable {
        /// The sum of the hashes of all stored entries and geo points.
        fileprivate var hashSum: UInt64 = 0
        /// The number of stored vectors.
        fileprivate var vectorCount = 0
        /// The reason why the file is damaged; `nil` if it is intact.
        package var damage: String?
    }

    /// Opens the index of a database that was closed; `nil` if there is nothing to compare.
    ///
    /// - Parameters:
    ///   - folder: The folder of the index's files, at `folderPath`.
    ///   - sequence: The last commit of the documents.
    package init?(in folder: any IndexFolder, folderPath: String, at sequence: SequenceNumber) throws(StatusError) {
        let record = folder.indexRecord
        guard record.openMarker == nil, try folder.identity(ofFile: IndexFile.name) != nil else { return nil }
        try self.init(in: folder, folderPath: folderPath, expecting: (sequence, record.edition), digest: nil)
    }

    private init(
        in folder: any IndexFolder,
        folderPath: String,
        expecting expected: (sequence: SequenceNumber, edition: String?),
        digest: IndexDigest?
    ) throws(StatusError) {
        self.folder = folder
        self.folderPath = folderPath
        self.expected = expected
        self.digest = digest
        seen = PositionSet(count: digest?.count ?? 0)
        damage = digest?.damage
        do throws(IndexDatabaseError) {
            connection = try IndexFile.openImmutable(folderPath + "/" + IndexFile.name)
        } catch {
            throw error.status
        }
    }

    /// Returns the fault of an index that is not a file; `nil` if it is one, or doesn't exist.
    package static func typeFault(in folder: any IndexFolder) throws(StatusError) -> Finding? {
        guard try folder.identity(ofFile: IndexFile.name) == nil, try folder.contains(IndexFile.name) else { return nil }
        return .damaged("it is not a regular file")
    }

    /// Returns a check of the same index with its own connection, for another thread.
    ///
    /// - Parameter digest: The rows of all documents, the same for all parts.
    package func makePart(_ digest: IndexDigest) throws(StatusError) -> IndexCheck {
        try IndexCheck(in: folder, folderPath: folderPath, expecting: expected, digest: digest)
    }

    /// Adds the comparisons that a part made.
    package mutating func merge(_ part: IndexCheck) {
        try? part.connection.close()
        if digest == nil {
            digest = part.digest
            seen = part.seen
        } else {
            seen.formUnion(part.seen)
        }
        hashSum &+= part.hashSum
        vectorCount += part.vectorCount
        skippedCount += part.skippedCount
        for (scope, size) in part.sizes { sizes[scope, default: .zero] += size }
        isBackfilled = isBackfilled && part.isBackfilled
        counts.merge(part.counts) { $0 + $1 }
        if let other = part.first { setFirst(other.path, other.file) }
        damage = damage ?? part.damage
    }

    /// The number of documents in the index; `nil` if it cannot be read.
    package var documentCount: Int? {
        try? connection.inDatabase { try storedSizes($0)[IndexCatalog.allDocuments]?.documentCount }
    }

    /// Compares documents, as read from their files, with the index.
    ///
    /// - Parameters:
    ///   - documents: The documents with the names of their files.
    ///   - folder: The path of their folder.
    package mutating func compare(_ documents: [(document: Document, name: String)], in folder: String) {
        guard damage == nil, !documents.isEmpty else { return }
        do throws(IndexDatabaseError) {
            try IndexDatabaseError.catching {
                try connection.inDatabase { database in
                    for (document, name) in documents {
                        guard let discrepancy = try self.discrepancy(document.path, document.fields, database) else { continue }
                        record(discrepancy, document.path, folder + "/" + name)
                    }
                }
            }
        } catch {
            damage = error.message
        }
    }

    /// Accepts the entries of a document whose file cannot be read.
    package mutating func skip(_ path: DocumentPath) {
        skippedCount += 1
        _ = try? connection.inDatabase { try storedContent(path, $0) }
    }

    /// Reads the rows of all documents, with its own connection.
    package func readDigest() -> IndexDigest {
        do {
            return try reading { try IndexDigest($0) }
        } catch {
            return IndexDigest(damage: IndexDatabaseError(error).message)
        }
    }

    /// Reads all entries and geo points, with its own connection.
    package func readTotals() -> Totals {
        do {
            return try reading { database in
                var totals = Totals()
                let statement = try IndexStatement("SELECT space, value, name, isDouble FROM entries", database)
                defer { statement.reset() }
                while try statement.step() {
                    let isDouble = statement.integer(3) == 1
                    let value = Self.hash(ofValue: statement.bytes(1), isDouble: isDouble, space: statement.integer(0))
                    totals.hashSum &+= SeededHash.combine(value, Self.hash(ofName: statement.bytes(2)))
                }
                totals.hashSum &+= try Self.hashSumOfPlaces(database)
                totals.vectorCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM vectors") ?? 0
                return totals
            }
        } catch {
            return Totals(damage: IndexDatabaseError(error).message)
        }
    }

    /// Reads all pages, with its own connection; returns the reason why they are damaged, or `nil`.
    package func pageDamage() -> String? {
        do {
            let result = try reading { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
            return result == "ok" ? nil : result ?? "it cannot be read"
        } catch {
            return IndexDatabaseError(error).message
        }
    }

    private func reading<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let connection = try IndexFile.openImmutable(folderPath + "/" + IndexFile.name)
        defer { try? connection.close() }
        return try connection.inDatabase(body)
    }

    /// Checks the index as a whole, after all documents, and returns the fault that was found, or `nil`.
    ///
    /// - Parameter totals: The tables as a whole; `nil` to look at a sample of the pages only.
    package mutating func finish(_ totals: Totals?) -> Finding? {
        if damage == nil {
            do throws(IndexDatabaseError) {
                damage = try IndexDatabaseError.catching {
                    try connection.inDatabase { database in
                        try recordOrphans(database)
                        return try overallDamage(database)
                    }
                }
            } catch {
                damage = error.message
            }
        }
        let sampledDamage = totals == nil ? IndexPageSample.damage(in: folder, connection) : nil
        try? connection.close()
        if let damage = damage ?? sampledDamage { return .damaged(damage) }
        if let first {
            let parts = Discrepancy.allCases.compactMap { discrepancy in
                counts[discrepancy].map { "\($0) \(discrepancy.rawValue)" }
            }
            let summary = "\(counts.values.reduce(0, +).counted("document")) (\(parts.joined(separator: ", ")))"
            return .outdated(summary, first: first.path, file: first.file)
        }
        if hasSurplusDocuments { return .damaged("it lists documents that don't exist") }
        guard let totals else { return nil }
        if let damage = totals.damage { return .damagedEntries(damage) }
        guard totals.vectorCount == vectorCount else {
            return .damagedEntries("it has \(totals.vectorCount.counted("vector")) instead of \(vectorCount)")
        }
        guard isBackfilled, totals.hashSum != hashSum else { return nil }
        return .damagedEntries("its entries don't match the documents")
    }

    private mutating func record(_ discrepancy: Discrepancy, _ path: DocumentPath, _ file: String) {
        setFirst(path, file)
        counts[discrepancy, default: 0] += 1
    }

    private mutating func setFirst(_ path: DocumentPath, _ file: String) {
        if let first, !file.utf8.lexicographicallyPrecedes(first.file.utf8) { return }
        first = (path, file)
    }
}

extension IndexCheck {
    private mutating func discrepancy(
        _ path: DocumentPath,
        _ fields: MapValue,
        _ database: Database
    ) throws -> Discrepancy? {
        let entries = try? IndexEntries(fields, &encoder) { name, parent in
            guard let id = try catalog.fieldID(name, under: parent, creating: false, in: database) else {
                throw IndexDatabaseError(corruption: "a field has no ID")
            }
            return id
        }
        let byteCount = Document.size(of: fields, at: path)
        if let digest, let entries, entries.vectors.isEmpty, let names = try names(of: path, database),
            let position = digest.position(of: entries.bytes, byteCount: byteCount, names)
        {
            seen.insert(position)
            try add(entries, byteCount: byteCount, digest.contentID(at: position), names, path, database)
            return nil
        }
        guard let stored = try storedContent(path, database) else { return .missing }
        guard let entries, stored.entries.bytes == entries.bytes, stored.byteCount == byteCount else { return .outdated }
        for (slot, vector) in entries.vectors {
            let place = stored.vectorPlace
            let space = IndexSpace(scope: place.scope, slot: slot)
            guard let row = try VectorSpace.find(space, creating: false, database)?.row(stored.contentID),
                try PackedVector(vector).isStored(at: row, place.name, database)
            else { return .outdated }
        }
        return nil
    }

    /// The content of a document in the index.
    private struct StoredContent {
        let contentID: Int64
        let entries: IndexEntries
        let byteCount: Int
        /// The document's name in each of its scopes; the last one is that of all documents.
        let names: [(scope: Int64, name: [UInt8])]

        /// The scope of the document's vectors, and its name there.
        var vectorPlace: (scope: Int64, name: [UInt8]) { names[names.count - 2] }
    }

    /// Returns a document's name in each of its scopes, last in that of all documents; `nil` if the index lacks a scope.
    private mutating func names(of path: DocumentPath, _ database: Database) throws -> [(scope: Int64, name: [UInt8])]? {
        guard let scopes = try catalog.scopes(of: path.collection, creating: false, in: database) else { return nil }
        let key = NameKey(path).bytes
        var names = [(scope: scopes.collection, name: NameKey(path.id).bytes)]
        if let group = scopes.group { names.append((group, key)) }
        names.append((IndexCatalog.allDocuments, key))
        return names
    }

    /// Looks up the stored content of a document, and adds it to the expected hashes and sizes; `nil` if the index lacks the
    /// document in one of its scopes.
    private mutating func storedContent(_ path: DocumentPath, _ database: Database) throws -> StoredContent? {
        guard let names = try names(of: path, database) else { return nil }
        let contentIDs = try names.map { try contentID(of: $0, database) }
        guard let contentID = contentIDs[0], contentIDs.allSatisfy({ $0 == contentID }),
            let position = digest?.position(ofContent: contentID)
        else { return nil }
        seen.insert(position)
        let statement = try IndexStatement("SELECT entries, bytes FROM contents WHERE id = ?1", database)
        defer { statement.reset() }
        statement.bind(contentID, at: 1)
        guard try statement.step() else { return nil }
        let content = StoredContent(
            contentID: contentID,
            entries: try IndexEntries(stored: statement.bytes(0)),
            byteCount: Int(statement.integer(1)),
            names: names
        )
        try add(content.entries, byteCount: content.byteCount, contentID, names, path, database)
        return content
    }

    /// Adds the content of a document to the expected hashes and sizes.
    private mutating func add(
        _ content: IndexEntries,
        byteCount: Int,
        _ contentID: Int64,
        _ names: [(scope: Int64, name: [UInt8])],
        _ path: DocumentPath,
        _ database: Database
    ) throws {
        let policies = try policies(database)
        let policy = policies.isEmpty ? nil : policies[path.collection.id]
        let entries = try policy?.entries(from: content, &catalog, database) ?? content
        let geoPoints = entries.geoPoints
        for (scope, name) in names {
            sizes[scope, default: .zero] += CollectionSize(documentCount: 1, byteCount: byteCount)
            guard scope != IndexCatalog.allDocuments else { continue }
            addHashes(of: entries, scope, name)
            addHashes(ofPlaces: geoPoints, contentID, scope, name)
        }
        vectorCount += content.vectorSlots.count
    }

    private mutating func policies(_ database: Database) throws -> [CollectionID: ResolvedIndexingPolicy] {
        if let policies { return policies }
        let states = try IndexBuildState.fetchAll(database)
        isBackfilled = states.values.allSatisfy(\.isBackfilled)
        let policies = try states.mapValues { try ResolvedIndexingPolicy($0.desired, &catalog, creating: false, database) }
        self.policies = policies
        return policies
    }

    private func contentID(of document: (scope: Int64, name: [UInt8]), _ database: Database) throws -> Int64? {
        let statement = try IndexStatement("SELECT content FROM documents WHERE scope = ?1 AND name = ?2", database)
        defer { statement.reset() }
        statement.bind(document.scope, at: 1)
        statement.bind(document.name, at: 2)
        return try statement.step() ? statement.integer(0) : nil
    }

    private mutating func addHashes(of entries: IndexEntries, _ scope: Int64, _ name: [UInt8]) {
        let name = name.withUnsafeBytes { Self.hash(ofName: $0) }
        entries.bytes.withUnsafeBytes { bytes in
            for entry in entries.entries {
                let space = IndexSpace(scope: scope, slot: entry.slot).id
                let value = UnsafeRawBufferPointer(rebasing: bytes[entry.value])
                hashSum &+= SeededHash.combine(Self.hash(ofValue: value, isDouble: entry.isDouble, space: space), name)
            }
        }
    }

    private mutating func addHashes(
        ofPlaces geoPoints: [(slot: Int64, point: GeoPoint)],
        _ contentID: Int64,
        _ scope: Int64,
        _ name: [UInt8]
    ) {
        for (slot, point) in geoPoints {
            let space = IndexSpace(scope: scope, slot: slot).id
            hashSum &+= name.withUnsafeBytes { Self.hash(ofPlace: GeoIndexBox(point), contentID, space: space, $0) }
        }
    }

    /// Returns the sum of the hashes of all stored geo points.
    private static func hashSumOfPlaces(_ database: Database) throws -> UInt64 {
        var spaces: [Int64: Int64] = [:]
        let spaceRows = try IndexStatement("SELECT id, space FROM placeSpaces", database)
        defer { spaceRows.reset() }
        while try spaceRows.step() { spaces[spaceRows.integer(0)] = spaceRows.integer(1) }
        let columns = "id, minSpace, maxSpace, minLatitude, maxLatitude, minLongitude, maxLongitude, name"
        let rows = try IndexStatement("SELECT \(columns) FROM places", database)
        defer { rows.reset() }
        var sum: UInt64 = 0
        while try rows.step() {
            let id = rows.integer(1) / 4
            let range = GeoIndexBox.spaceRange(id)
            let corners = (3...6).map { Int32(clamping: rows.integer(Int32($0))) }
            guard let space = spaces[id], range == (rows.integer(1), rows.integer(2)), corners[0] <= corners[1],
                corners[2] <= corners[3]
            else { throw IndexDatabaseError(corruption: "a geo point is in no space") }
            let box = GeoIndexBox(latitudes: corners[0]...corners[1], longitudes: corners[2]...corners[3])
            let contentID = rows.integer(0) / (2 * GeoIndexBox.maximumPointsPerDocument)
            sum &+= hash(ofPlace: box, contentID, space: space, rows.bytes(7))
        }
        return sum
    }

    private static func hash(
        ofPlace box: GeoIndexBox,
        _ contentID: Int64,
        space: Int64,
        _ name: UnsafeRawBufferPointer
    ) -> UInt64 {
        let corners = (
            box.latitudes.lowerBound, box.latitudes.upperBound, box.longitudes.lowerBound, box.longitudes.upperBound, contentID
        )
        let place = withUnsafeBytes(of: corners) { SeededHash.hash($0, UInt64(bitPattern: space)) }
        return SeededHash.combine(place, hash(ofName: name))
    }

    private static func hash(ofValue value: UnsafeRawBufferPointer, isDouble: Bool, space: Int64) -> UInt64 {
        SeededHash.hash(value, UInt64(bitPattern: space) << 1 | (isDouble ? 1 : 0))
    }

    /// The number keeps the hash of a name apart from those of values.
    private static func hash(ofName name: UnsafeRawBufferPointer) -> UInt64 {
        SeededHash.hash(name, .max)
    }
}

extension IndexCheck {
    /// Records the documents in the index that have no files.
    private mutating func recordOrphans(_ database: Database) throws {
        guard let digest, seen.count < digest.count else { return }
        let statement = try IndexStatement("SELECT content, name FROM documents WHERE scope = ?1", database)
        defer { statement.reset() }
        statement.bind(IndexCatalog.allDocuments, at: 1)
        var orphans: [DocumentPath] = []
        while try statement.step() {
            guard let position = digest.position(ofContent: statement.integer(0)), !seen.contains(position),
                let path = DocumentPath(nameKey: statement.bytes(1))
            else { continue }
            orphans.append(path)
        }
        for path in orphans {
            _ = try storedContent(path, database)
            record(.orphaned, path, IndexFile.name)
        }
    }

    /// Returns the reason why the index is damaged as a whole, or `nil`.
    private func overallDamage(_ database: Database) throws -> String? {
        guard let header = try IndexFileHeader(database), header.isComplete else {
            return "its format is unsupported, or it is incomplete"
        }
        guard header.edition == expected.edition else { return "it belongs to another database, or is an older copy" }
        guard header.sequence == expected.sequence else {
            return "its last commit is \(header.sequence), but that of the documents is \(expected.sequence)"
        }
        let contentCount = digest?.count ?? 0
        guard contentCount == seen.count else {
            return "it has the contents of \(contentCount.counted("document")) instead of \(seen.count)"
        }
        guard try sizes == storedSizes(database) else { return "its collection sizes don't match the documents" }
        return nil
    }

    /// True if scopes have other numbers of documents than they should.
    private var hasSurplusDocuments: Bool {
        guard var counts = digest?.documentCounts else { return false }
        // Of the documents that cannot be read, some have entries and others are listed as unreadable.
        if skippedCount > 0 { counts[IndexCatalog.unreadableDocuments] = nil }
        return counts != sizes.mapValues(\.documentCount).filter { $0.value > 0 }
    }

    private func storedSizes(_ database: Database) throws -> [Int64: CollectionSize] {
        var sizes: [Int64: CollectionSize] = [:]
        let statement = try IndexStatement("SELECT scope, documents, bytes FROM sizes", database)
        defer { statement.reset() }
        while try statement.step() {
            let (documents, bytes) = (Int(statement.integer(1)), Int(statement.integer(2)))
            sizes[statement.integer(0)] = CollectionSize(documentCount: documents, byteCount: bytes)
        }
        return sizes
    }
}
