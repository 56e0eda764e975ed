internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// Compares the index of a database that was closed with the documents' files.
///
/// Each document is compared with what the index knows of it, and all entries that should be there, as a sum of hashes, with
/// those that are. The index of a database that was not closed is not looked at: the next start sees to it.
struct IndexCheck {
    private let connection: DatabaseQueue
    private let expected: (sequence: SequenceNumber, edition: String?)
    private var numbers = IndexNumbers()
    private var encoder = KeyEncoder()
    /// The rows of the documents that have files.
    private var seen: Set<Int64> = []
    /// The sum of the hashes of the entries that should be there.
    private var sum = 0
    /// By what rules the entries of some collections are made; nil before the index was asked.
    private var rules: [CollectionID: IndexRowRules]?
    /// Whether all entries are as the rules say: they are not while that is being changed.
    private var isSettled = true
    /// How many documents the index has otherwise than their files.
    private var counts: [Fault: Int] = [:]
    /// The first of them.
    private var first: (path: DocumentPath, file: String)?
    /// Why the index can't be read.
    private var unreadable: String?

    /// How the index and a file differ.
    private enum Fault: String, CaseIterable {
        case missing = "lacks"
        case other = "has with other fields"
        case removed = "has without there being a file"
    }

    /// Opens the index to look at it; nil when there is nothing to compare.
    init?(_ data: DataFolder, folder: String) throws(StatusError) {
        guard data.description.isClean, data.description.openIndex == nil,
            try data.identity(ofFile: IndexFile.name) != nil
        else { return nil }
        expected = (data.description.sequence, data.description.indexEdition)
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.foreignKeysEnabled = false
            // Without this SQLite would make files beside it.
            let path = PercentEncoding.encode(UTF8Key(folder + "/" + IndexFile.name))
            connection = try DatabaseQueue(path: "file:\(path)?immutable=1", configuration: configuration)
        } catch {
            throw IndexFailure(error).status
        }
    }

    /// Compares a document as it was read from its file.
    mutating func compare(_ document: EncodedDocument, _ file: String) throws(StatusError) {
        guard unreadable == nil else { return }
        let fields = try document.decoded().fields
        do throws(IndexFailure) {
            let fault = try IndexFailure.catching { try connection.inDatabase { try self.fault(document.path, fields, $0) } }
            if let fault { note(fault, document.path, file) }
        } catch {
            unreadable = error.message
        }
    }

    private mutating func note(_ fault: Fault, _ path: DocumentPath, _ file: String) {
        if first == nil { first = (path, file) }
        counts[fault, default: 0] += 1
    }

    /// Takes note of a document whose file can't be read, so that nothing can be said of it.
    mutating func skip(_ path: DocumentPath) {
        _ = try? connection.inDatabase { try stored(path, $0) }
    }

    /// Compares what is left, when all documents have been, and reports what is wrong: one finding, since one repair mends it.
    mutating func finish(_ log: inout CheckLog) {
        if unreadable == nil {
            do throws(IndexFailure) {
                unreadable = try IndexFailure.catching {
                    try connection.inDatabase { database in
                        try noteUnseen(database)
                        return try faultOfWhole(database)
                    }
                }
            } catch {
                unreadable = error.message
            }
        }
        try? connection.close()
        if let unreadable {
            log.add(.damagedIndex(unreadable))
        } else if let first {
            let parts = Fault.allCases.compactMap { fault in counts[fault].map { "\(fault.rawValue) \($0)" } }
            log.add(
                CheckFinding(
                    .outdatedIndex,
                    "Queries don't find what is there of \(counts.values.reduce(0, +)) documents: the index "
                        + parts.joined(separator: ", ") + ". This is the first of them. A repair makes the index anew.",
                    path: first.path.string,
                    file: first.file
                )
            )
        }
    }
}

extension IndexCheck {
    private mutating func fault(_ path: DocumentPath, _ fields: MapValue, _ database: Database) throws -> Fault? {
        guard let stored = try stored(path, database) else { return .missing }
        let entries = try? IndexEntries(fields, &encoder) { name, parent in
            guard let number = try numbers.field(name, under: parent, making: false, in: database) else {
                throw IndexFailure(damage: "unknown")
            }
            return number
        }
        return stored.bytes == entries?.bytes ? nil : .other
    }

    /// What the index has of a document; nil when it has not all of it.
    private mutating func stored(_ path: DocumentPath, _ database: Database) throws -> IndexEntries? {
        guard let own = try numbers.scope(IndexNumbers.name(of: path.collection), making: false, in: database) else { return nil }
        let key = NameKey(path).bytes
        var names = [(scope: own, name: NameKey(path.id).bytes)]
        if path.collection.parent != nil {
            let group = try numbers.scope(IndexNumbers.name(ofGroup: path.collection.id), making: false, in: database)
            guard let group else { return nil }
            names.append((group, key))
        }
        let known = try (names + [(IndexNumbers.all, key)]).map { try content(of: $0, database) }
        guard let content = known[0], known.allSatisfy({ $0 == content }) else { return nil }
        seen.insert(content)
        let statement = try IndexStatement("SELECT entries FROM contents WHERE id = ?1", database)
        defer { statement.reset() }
        statement.bind(content, at: 1)
        guard try statement.step() else { return nil }
        let stored = try IndexEntries(bytes: statement.bytes(0))
        let rows = try rules(database)[path.collection.id]?.rows(of: stored, &numbers, database) ?? stored
        for (scope, name) in names { add(rows, scope, name) }
        return stored
    }

    private mutating func rules(_ database: Database) throws -> [CollectionID: IndexRowRules] {
        if let rules { return rules }
        let states = try IndexRuleState.all(database)
        isSettled = states.values.allSatisfy(\.isSettled)
        let made = try states.mapValues { try IndexRowRules($0.target, &numbers, making: false, database) }
        rules = made
        return made
    }

    /// Notes the documents that the index has and that have no files.
    private mutating func noteUnseen(_ database: Database) throws {
        let statement = try IndexStatement("SELECT content, name FROM documents WHERE scope = ?1", database)
        defer { statement.reset() }
        statement.bind(IndexNumbers.all, at: 1)
        var unseen: [DocumentPath] = []
        while try statement.step() {
            guard !seen.contains(statement.integer(0)), let path = DocumentPath(nameKey: statement.bytes(1)) else { continue }
            unseen.append(path)
        }
        for path in unseen {
            _ = try stored(path, database)
            note(.removed, path, IndexFile.name)
        }
    }

    private func content(of document: (scope: Int64, name: [UInt8]), _ database: Database) throws -> Int64? {
        let statement = try IndexStatement("SELECT content FROM documents WHERE scope = ?1 AND name = ?2", database)
        defer { statement.reset() }
        statement.bind(document.scope, at: 1)
        statement.bind(document.name, at: 2)
        return try statement.step() ? statement.integer(0) : nil
    }

    private mutating func add(_ entries: IndexEntries, _ scope: Int64, _ name: [UInt8]) {
        entries.bytes.withUnsafeBytes { bytes in
            for entry in entries.entries {
                let space = IndexSpace(scope: scope, slot: entry.slot).number
                let value = UnsafeRawBufferPointer(rebasing: bytes[entry.value])
                sum &+= name.withUnsafeBytes { Self.hash(space, value, $0) }
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

    private func faultOfWhole(_ database: Database) throws -> String? {
        guard let state = try IndexState(database), state.isComplete else { return "it is of another version, or incomplete" }
        guard state.edition == expected.edition else { return "it is from another time or database" }
        guard state.sequence == expected.sequence else {
            return "it is of commit \(state.sequence), and the documents of \(expected.sequence)"
        }
        let damage = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard damage == "ok" else { return damage ?? "it can't be read" }
        let contents = try Int.fetchOne(database, sql: "SELECT count(*) FROM contents") ?? 0
        guard contents == seen.count else { return "it knows of \(contents) documents, and has \(seen.count)" }
        guard isSettled else { return nil }
        var found = 0
        let statement = try IndexStatement("SELECT space, value, name FROM entries", database)
        defer { statement.reset() }
        while try statement.step() { found &+= Self.hash(statement.integer(0), statement.bytes(1), statement.bytes(2)) }
        return found == sum ? nil : "its entries are not those of its documents"
    }
}

extension CheckFinding {
    /// An index that can't be compared, or is not right as a whole.
    static func damagedIndex(_ fault: String) -> CheckFinding {
        CheckFinding(.damagedIndex, "The index is not right: \(fault). A repair makes it anew.", file: IndexFile.name)
    }
}
