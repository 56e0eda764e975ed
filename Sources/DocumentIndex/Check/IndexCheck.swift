package import DocumentModel
package import DocumentStore
internal import GRDB
internal import UTF8Text

/// A comparison of the index of a closed database with the documents.
///
/// The stored entries of each document are compared with those of its fields, and the entries table as a whole by a sum of hashes.
/// An index that was not closed cleanly is skipped: the next start verifies it.
package struct IndexCheck {
    private let connection: DatabaseQueue
    private let expected: (sequence: SequenceNumber, edition: String?)
    private var catalog = IndexCatalog()
    private var encoder = KeyEncoder()
    /// The content IDs of the documents that have files.
    private var seen: Set<Int64> = []
    /// The sum of the hashes of all entries that should exist.
    private var hashSum = 0
    /// The expected sizes of the scopes.
    private var sizes: [Int64: CollectionSize] = [:]
    /// The indexing policies by collection; nil before they are read.
    private var policies: [CollectionID: ResolvedIndexingPolicy]?
    /// True if all entries conform to the policies; false if a backfill is unfinished.
    private var isBackfilled = true
    /// The number of documents by discrepancy.
    private var counts: [Discrepancy: Int] = [:]
    /// The first document with a discrepancy.
    private var first: (path: DocumentPath, file: String)?
    /// The reason why the index is damaged as a whole.
    private var damage: String?

    /// A fault of an index. There is at most one, since one repair fixes everything.
    package enum Finding: Sendable {
        /// The index is damaged as a whole, for a reason.
        case damaged(String)
        /// The entries of documents differ from their fields, with a summary and the first such document.
        case outdated(String, first: DocumentPath, file: String)
    }

    /// A difference between the index and a document file.
    private enum Discrepancy: String, CaseIterable {
        case missing
        case outdated
        case orphaned
    }

    /// Opens the index of a database that was closed; nil if there is nothing to compare.
    ///
    /// - Parameters:
    ///   - folder: The folder of the index's files, at `folderPath`.
    ///   - sequence: The last commit of the documents.
    package init?(in folder: any IndexFolder, folderPath: String, at sequence: SequenceNumber) throws(StatusError) {
        let record = folder.indexRecord
        guard record.openMarker == nil, try folder.identity(ofFile: IndexFile.name) != nil else { return nil }
        expected = (sequence, record.edition)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.foreignKeysEnabled = false
            // Without `immutable`, SQLite would create files beside it.
            let path = PercentEncoding.encode(UTF8Key(folderPath + "/" + IndexFile.name))
            connection = try DatabaseQueue(path: "file:\(path)?immutable=1", configuration: configuration)
        } catch {
            throw IndexDatabaseError(error).status
        }
    }

    /// Compares a document as read from its file.
    package mutating func compare(_ document: EncodedDocument, _ file: String) throws(StatusError) {
        guard damage == nil else { return }
        let fields = try document.decoded().fields
        do throws(IndexDatabaseError) {
            let discrepancy = try IndexDatabaseError.catching {
                try connection.inDatabase { try self.discrepancy(document.path, fields, $0) }
            }
            if let discrepancy { record(discrepancy, document.path, file) }
        } catch {
            damage = error.message
        }
    }

    /// Accepts the entries of a document whose file can't be read.
    package mutating func skip(_ path: DocumentPath) {
        _ = try? connection.inDatabase { try storedContent(path, $0) }
    }

    /// Checks the index as a whole, after all documents, and returns the fault that was found, or nil.
    package mutating func finish() -> Finding? {
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
        try? connection.close()
        if let damage { return .damaged(damage) }
        guard let first else { return nil }
        let parts = Discrepancy.allCases.compactMap { discrepancy in
            counts[discrepancy].map { "\($0) \(discrepancy.rawValue)" }
        }
        let summary = "\(counts.values.reduce(0, +)) documents (\(parts.joined(separator: ", ")))"
        return .outdated(summary, first: first.path, file: first.file)
    }

    private mutating func record(_ discrepancy: Discrepancy, _ path: DocumentPath, _ file: String) {
        if first == nil { first = (path, file) }
        counts[discrepancy, default: 0] += 1
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
        return stored.entries.bytes == entries?.bytes && stored.byteCount == Document.size(of: fields, at: path) ? nil : .outdated
    }

    /// Returns the stored entries of a document, and adds them to the expected hashes and sizes; nil if the index lacks the
    /// document in one of its scopes.
    private mutating func storedContent(
        _ path: DocumentPath,
        _ database: Database
    ) throws -> (entries: IndexEntries, byteCount: Int)? {
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
        return (stored, byteCount)
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
                hashSum &+= name.withUnsafeBytes { Self.hash(space, value, $0) }
            }
        }
    }

    private static func hash(_ space: Int64, _ value: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(space)
        hasher.combine(value.count)
        hasher.combine(bytes: value)
        hasher.combine(bytes: name)
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

    /// Returns the reason why the index is damaged as a whole, or nil.
    private func overallDamage(_ database: Database) throws -> String? {
        guard let header = try IndexFileHeader(database), header.isComplete else {
            return "its format is unsupported, or it is incomplete"
        }
        guard header.edition == expected.edition else { return "it belongs to another database, or is an older copy" }
        guard header.sequence == expected.sequence else {
            return "its last commit is \(header.sequence), and that of the documents is \(expected.sequence)"
        }
        let result = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard result == "ok" else { return result ?? "it can't be read" }
        let contentCount = try Int.fetchOne(database, sql: "SELECT count(*) FROM contents") ?? 0
        guard contentCount == seen.count else {
            return "it has the contents of \(contentCount) documents instead of \(seen.count)"
        }
        guard try sizes == storedSizes(database) else { return "its collection sizes don't match the documents" }
        guard isBackfilled else { return nil }
        var storedSum = 0
        let statement = try IndexStatement("SELECT space, value, name FROM entries", database)
        defer { statement.reset() }
        while try statement.step() { storedSum &+= Self.hash(statement.integer(0), statement.bytes(1), statement.bytes(2)) }
        return storedSum == hashSum ? nil : "its entries don't match the documents"
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
