package import DocumentModel
package import DocumentStore
internal import GRDB
internal import UTF8Text

/// A comparison of the index of a closed database with the documents.
///
/// The stored entries of each document are compared with those of its fields, and the entries table as a whole by a sum of
/// hashes. An index that was not closed cleanly is skipped: the next startup verifies it.
///
/// The documents may be divided among several threads: each compares its own with a ``makePart()``, and the parts are merged
/// at the end. ``readTotals()`` reads the tables as a whole at the same time.
package struct IndexCheck: Sendable {
    private let connection: DatabaseQueue
    private let folder: any IndexFolder
    private let folderPath: String
    private let expected: (sequence: SequenceNumber, edition: String?)
    private var catalog = IndexCatalog()
    private var encoder = KeyEncoder()
    /// The content IDs of the documents that have files.
    private var seen: Set<Int64> = []
    /// The sum of the hashes of all entries that should exist.
    private var hashSum = 0
    /// The number of vectors that should exist.
    private var vectorCount = 0
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
        /// The sum of the hashes of all stored entries.
        fileprivate var hashSum = 0
        /// The number of stored vectors.
        fileprivate var vectorCount = 0
        /// The reason why the file is damaged; `nil` if it is intact.
        fileprivate var damage: String?
    }

    /// Opens the index of a database that was closed; `nil` if there is nothing to compare.
    ///
    /// - Parameters:
    ///   - folder: The folder of the index's files, at `folderPath`.
    ///   - sequence: The last commit of the documents.
    package init?(in folder: any IndexFolder, folderPath: String, at sequence: SequenceNumber) throws(StatusError) {
        let record = folder.indexRecord
        guard record.openMarker == nil, try folder.identity(ofFile: IndexFile.name) != nil else { return nil }
        try self.init(in: folder, folderPath: folderPath, expecting: (sequence, record.edition))
    }

    private init(
        in folder: any IndexFolder,
        folderPath: String,
        expecting expected: (sequence: SequenceNumber, edition: String?)
    ) throws(StatusError) {
        self.folder = folder
        self.folderPath = folderPath
        self.expected = expected
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
    package func makePart() throws(StatusError) -> IndexCheck {
        try IndexCheck(in: folder, folderPath: folderPath, expecting: expected)
    }

    /// Adds the comparisons that a part made.
    package mutating func merge(_ part: IndexCheck) {
        try? part.connection.close()
        seen.formUnion(part.seen)
        hashSum &+= part.hashSum
        vectorCount += part.vectorCount
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
    package mutating func compare(_ documents: [(document: Document, file: String)]) {
        guard damage == nil, !documents.isEmpty else { return }
        do throws(IndexDatabaseError) {
            try IndexDatabaseError.catching {
                try connection.inDatabase { database in
                    for (document, file) in documents {
                        guard let discrepancy = try self.discrepancy(document.path, document.fields, database) else { continue }
                        record(discrepancy, document.path, file)
                    }
                }
            }
        } catch {
            damage = error.message
        }
    }

    /// Accepts the entries of a document whose file cannot be read.
    package mutating func skip(_ path: DocumentPath) {
        _ = try? connection.inDatabase { try storedContent(path, $0) }
    }

    /// Reads all pages and all entries, with its own connection.
    package func readTotals() -> Totals {
        do {
            let connection = try IndexFile.openImmutable(folderPath + "/" + IndexFile.name)
            defer { try? connection.close() }
            return try connection.inDatabase { database in
                var totals = Totals()
                let result = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
                guard result == "ok" else {
                    totals.damage = result ?? "it cannot be read"
                    return totals
                }
                let statement = try IndexStatement("SELECT space, value, name, isDouble FROM entries", database)
                defer { statement.reset() }
                while try statement.step() {
                    let isDouble = statement.integer(3) == 1
                    totals.hashSum &+= Self.hash(statement.integer(0), statement.bytes(1), statement.bytes(2), isDouble: isDouble)
                }
                totals.vectorCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM vectors") ?? 0
                return totals
            }
        } catch {
            return Totals(damage: IndexDatabaseError(error).message)
        }
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
        guard let stored = try storedContent(path, database) else { return .missing }
        let entries = try? IndexEntries(fields, &encoder) { name, parent in
            guard let id = try catalog.fieldID(name, under: parent, creating: false, in: database) else {
                throw IndexDatabaseError(corruption: "a field has no ID")
            }
            return id
        }
        guard let entries, stored.entries.bytes == entries.bytes, stored.byteCount == Document.size(of: fields, at: path)
        else { return .outdated }
        for (slot, vector) in entries.vectors {
            let space = IndexSpace(scope: stored.vectors.scope, slot: slot)
            guard let row = try VectorSpace.find(space, creating: false, database)?.row(stored.contentID),
                try PackedVector(vector).isStored(at: row, stored.vectors.name, database)
            else { return .outdated }
        }
        return nil
    }

    /// The content of a document in the index.
    private struct StoredContent {
        let contentID: Int64
        let entries: IndexEntries
        let byteCount: Int
        /// The scope of the document's vectors, and its name there.
        let vectors: (scope: Int64, name: [UInt8])
    }

    /// Returns the stored content of a document, and adds it to the expected hashes and sizes; `nil` if the index lacks the
    /// document in one of its scopes.
    private mutating func storedContent(_ path: DocumentPath, _ database: Database) throws -> StoredContent? {
        let collection = path.collection
        guard let scope = try catalog.scopeID(IndexCatalog.scopeName(of: collection), creating: false, in: database) else {
            return nil
        }
        let key = NameKey(path).bytes
        var names = [(scope: scope, name: NameKey(path.id).bytes)]
        if collection.parent != nil {
            let group = try catalog.scopeID(IndexCatalog.scopeName(ofGroup: collection.id), creating: false, in: database)
            guard let group else { return nil }
            names.append((group, key))
        }
        let contentIDs = try (names + [(IndexCatalog.allDocuments, key)]).map { try contentID(of: $0, database) }
        guard let contentID = contentIDs[0], contentIDs.allSatisfy({ $0 == contentID }) else { return nil }
        seen.insert(contentID)
        let statement = try IndexStatement("SELECT entries, bytes FROM contents WHERE id = ?1", database)
        defer { statement.reset() }
        statement.bind(contentID, at: 1)
        guard try statement.step() else { return nil }
        let stored = try IndexEntries(bytes: statement.bytes(0))
        let entries = try policies(database)[collection.id]?.entries(from: stored, &catalog, database) ?? stored
        for (scope, name) in names { addHashes(of: entries, scope, name) }
        let byteCount = Int(statement.integer(1))
        for scope in names.map(\.scope) + [IndexCatalog.allDocuments] {
            sizes[scope, default: .zero] += CollectionSize(documentCount: 1, byteCount: byteCount)
        }
        vectorCount += stored.vectorSlots.count
        return StoredContent(contentID: contentID, entries: stored, byteCount: byteCount, vectors: names[names.count - 1])
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
        entries.bytes.withUnsafeBytes { bytes in
            for entry in entries.entries {
                let space = IndexSpace(scope: scope, slot: entry.slot).id
                let value = UnsafeRawBufferPointer(rebasing: bytes[entry.value])
                hashSum &+= name.withUnsafeBytes { Self.hash(space, value, $0, isDouble: entry.isDouble) }
            }
        }
    }

    private static func hash(
        _ space: Int64,
        _ value: UnsafeRawBufferPointer,
        _ name: UnsafeRawBufferPointer,
        isDouble: Bool
    ) -> Int {
        var hasher = Hasher()
        hasher.combine(space)
        hasher.combine(value.count)
        hasher.combine(bytes: value)
        hasher.combine(bytes: name)
        hasher.combine(isDouble)
        return hasher.finalize()
    }
}

extension IndexCheck {
    /// Records the documents in the index that have no files.
    private mutating func recordOrphans(_ database: Database) throws {
        let statement = try IndexStatement("SELECT content, name FROM documents WHERE scope = ?1", database)
        defer { statement.reset() }
        statement.bind(IndexCatalog.allDocuments, at: 1)
        var orphans: [DocumentPath] = []
        while try statement.step() {
            guard !seen.contains(statement.integer(0)), let path = DocumentPath(nameKey: statement.bytes(1)) else { continue }
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
        let contentCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM contents") ?? 0
        guard contentCount == seen.count else {
            return "it has the contents of \(contentCount.counted("document")) instead of \(seen.count)"
        }
        guard try sizes == storedSizes(database) else { return "its collection sizes don't match the documents" }
        return nil
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
