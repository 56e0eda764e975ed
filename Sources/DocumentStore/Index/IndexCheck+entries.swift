internal import DocumentModel
internal import GRDB

extension IndexCheck {
    /// How the index has a document otherwise than its file; nil when it has it so.
    mutating func fault(_ path: DocumentPath, _ fields: MapValue, _ database: Database) throws -> Fault? {
        guard let stored = try stored(path, database) else { return .missing }
        let entries = try? IndexEntries(fields, &encoder) { name, parent in
            guard let number = try numbers.field(name, under: parent, making: false, in: database) else {
                throw IndexFailure(damage: "unknown")
            }
            return number
        }
        return stored.entries.bytes == entries?.bytes && stored.byteCount == Document.size(of: fields, at: path) ? nil : .other
    }

    /// What the index has of a document; nil when it has not all of it.
    mutating func stored(_ path: DocumentPath, _ database: Database) throws -> (entries: IndexEntries, byteCount: Int)? {
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
        let statement = try IndexStatement("SELECT entries, bytes FROM contents WHERE id = ?1", database)
        defer { statement.reset() }
        statement.bind(content, at: 1)
        guard try statement.step() else { return nil }
        let stored = try IndexEntries(bytes: statement.bytes(0))
        let rows = try rules(database)[path.collection.id]?.rows(of: stored, &numbers, database) ?? stored
        for (scope, name) in names { add(rows, scope, name) }
        let byteCount = Int(statement.integer(1))
        for scope in names.map(\.scope) + [IndexNumbers.all] {
            sizes[scope, default: .zero] += CollectionSize(documentCount: 1, byteCount: byteCount)
        }
        return (stored, byteCount)
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
    mutating func noteUnseen(_ database: Database) throws {
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

    /// What is wrong with the index as a whole; nil when nothing is.
    func faultOfWhole(_ database: Database) throws -> String? {
        guard let state = try IndexState(database), state.isComplete else { return "it is of another version, or incomplete" }
        guard state.edition == expected.edition else { return "it is from another time or database" }
        guard state.sequence == expected.sequence else {
            return "it is of commit \(state.sequence), and the documents of \(expected.sequence)"
        }
        let damage = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard damage == "ok" else { return damage ?? "it can't be read" }
        let contents = try Int.fetchOne(database, sql: "SELECT count(*) FROM contents") ?? 0
        guard contents == seen.count else { return "it knows of \(contents) documents, and has \(seen.count)" }
        guard try sizes == storedSizes(database) else { return "its sizes of collections are not those of their documents" }
        guard isSettled else { return nil }
        var found = 0
        let statement = try IndexStatement("SELECT space, value, name FROM entries", database)
        defer { statement.reset() }
        while try statement.step() { found &+= Self.hash(statement.integer(0), statement.bytes(1), statement.bytes(2)) }
        return found == sum ? nil : "its entries are not those of its documents"
    }
}
