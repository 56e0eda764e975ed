internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// Changes what is in the index, in a transaction of its connection.
final class IndexWriter {
    /// What is remembered from transaction to transaction.
    struct Memory {
        var numbers = IndexNumbers()
        var encoder = KeyEncoder()
        var changes = EntryChanges()
        /// By how much the sizes of scopes are to be changed.
        var sizes: [Int64: CollectionSize] = [:]
        /// The number of the next document's row; nil when the database must be asked.
        var nextContent: Int64?
        /// By what rules the entries are made; nil when the database must be asked.
        var rules: [CollectionID: IndexRowRuleState]?

        /// Forgets what a transaction that failed may have added.
        mutating func forget() {
            self = Memory()
        }
    }

    let database: Database
    private let findDocument: IndexStatement
    private let insertDocument: IndexStatement
    private let removeDocument: IndexStatement
    private let readContent: IndexStatement
    private let writeContent: IndexStatement
    private let removeContent: IndexStatement
    private let insertEntry: IndexStatement
    private let removeEntry: IndexStatement

    /// A writer on a connection.
    init(_ database: Database) throws {
        self.database = database
        findDocument = try IndexStatement("SELECT content FROM documents WHERE scope = ?1 AND name = ?2", database)
        insertDocument = try IndexStatement("INSERT INTO documents (scope, name, content) VALUES (?1, ?2, ?3)", database)
        removeDocument = try IndexStatement("DELETE FROM documents WHERE scope = ?1 AND name = ?2", database)
        readContent = try IndexStatement("SELECT entries, bytes FROM contents WHERE id = ?1", database)
        writeContent = try IndexStatement("INSERT OR REPLACE INTO contents (id, entries, bytes) VALUES (?1, ?2, ?3)", database)
        removeContent = try IndexStatement("DELETE FROM contents WHERE id = ?1", database)
        insertEntry = try IndexStatement("INSERT OR IGNORE INTO entries (space, value, name) VALUES (?1, ?2, ?3)", database)
        removeEntry = try IndexStatement("DELETE FROM entries WHERE space = ?1 AND value = ?2 AND name = ?3", database)
    }

    /// Takes in documents as they are now; nil where there is none. Each at most once.
    func apply(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>, _ memory: inout Memory) throws {
        try prepare(documents, &memory)
        try run(&memory)
        try writeSizes(&memory)
    }

    /// Takes in documents like ``apply(_:_:)``, but for their entries and the sizes: those are to be changed as the memory says.
    func prepare(_ documents: some Sequence<(path: DocumentPath, fields: MapValue?)>, _ memory: inout Memory) throws {
        for (path, fields) in documents { try prepare(path, fields, &memory) }
    }

    /// Carries out the changes of entries that were prepared.
    func run(_ memory: inout Memory) throws {
        try memory.changes.drain { change throws(IndexFailure) in try run(change) }
    }

    /// Adds an entry, or removes it.
    func run(_ change: EntryChange) throws(IndexFailure) {
        let statement = change.isAddition ? insertEntry : removeEntry
        statement.bind(change.space, at: 1)
        statement.bind(unowned: change.value, at: 2)
        statement.bind(unowned: change.name, at: 3)
        try statement.run()
    }

    /// Notes up to which commit the index is complete.
    func setState(_ sequence: SequenceNumber, _ time: Timestamp?) throws {
        try database.execute(
            sql: "UPDATE state SET sequence = ?, time = ?, isComplete = true",
            arguments: [Int64(sequence.rawValue), time?.microseconds]
        )
    }
}

extension IndexWriter {
    /// Notes which start of Hearth writes, in each transaction that does.
    static func setEdition(_ edition: String, _ database: Database) throws {
        try database.execute(sql: "UPDATE state SET edition = ?", arguments: [edition])
    }

    /// The scopes that a document is in, with its name in each.
    struct Names {
        let own: (scope: Int64, name: [UInt8])
        /// Nil for a document in a collection at the top.
        let group: (scope: Int64, name: [UInt8])?
        /// The name in the scope of all documents.
        let path: [UInt8]

        /// Where the document has entries.
        var searched: [(scope: Int64, name: [UInt8])] { [own] + (group.map { [$0] } ?? []) }
        /// Where the document is listed.
        var all: [(scope: Int64, name: [UInt8])] { searched + [(IndexNumbers.all, path)] }
    }

    private func prepare(_ path: DocumentPath, _ fields: MapValue?, _ memory: inout Memory) throws {
        guard let names = try names(of: path, making: fields != nil, &memory) else { return }
        let content = try content(of: names.own)
        let (old, oldBytes) = try content.map { try stored($0) } ?? (IndexEntries(), 0)
        guard let fields else {
            guard let content else { return }
            note(CollectionSize(documentCount: -1, byteCount: -oldBytes), names, &memory)
            try replace(old, with: IndexEntries(), content, names, in: path.collection.id, &memory)
            for (scope, name) in names.all { try run(removeDocument, scope, name) }
            removeContent.bind(content, at: 1)
            try removeContent.run()
            return
        }
        var numbers = memory.numbers
        memory.numbers = IndexNumbers()
        let new = try IndexEntries(fields, &memory.encoder) { name, parent in
            guard let number = try numbers.field(name, under: parent, making: true, in: database) else {
                throw IndexFailure(damage: "a field has no number")
            }
            return number
        }
        memory.numbers = numbers
        let bytes = Document.size(of: fields, at: path)
        note(CollectionSize(documentCount: content == nil ? 1 : 0, byteCount: bytes - oldBytes), names, &memory)
        if let content {
            guard old.bytes != new.bytes || oldBytes != bytes else { return }
            try replace(old, with: new, content, names, in: path.collection.id, &memory)
            try write(new, bytes, content)
        } else {
            let content = try nextContent(&memory)
            for (scope, name) in names.all {
                insertDocument.bind(content, at: 3)
                try run(insertDocument, scope, name)
            }
            try write(new, bytes, content)
            try replace(old, with: new, content, names, in: path.collection.id, &memory)
        }
    }

    func names(of path: DocumentPath, making makes: Bool, _ memory: inout Memory) throws -> Names? {
        let collection = path.collection
        let scope = try memory.numbers.scope(IndexNumbers.name(of: collection), making: makes, in: database)
        guard let scope else { return nil }
        let own = (scope: scope, name: NameKey(path.id).bytes)
        let key = NameKey(path).bytes
        guard collection.parent != nil else { return Names(own: own, group: nil, path: key) }
        let group = try memory.numbers.scope(IndexNumbers.name(ofGroup: collection.id), making: makes, in: database)
        guard let group else { return nil }
        return Names(own: own, group: (group, key), path: key)
    }

    func content(of document: (scope: Int64, name: [UInt8])) throws -> Int64? {
        defer { findDocument.reset() }
        findDocument.bind(document.scope, at: 1)
        return try document.name.withUnsafeBytes { name in
            findDocument.bind(unowned: name, at: 2)
            return try findDocument.step() ? findDocument.integer(0) : nil
        }
    }

    /// What is in the index of a document, and its size.
    func stored(_ content: Int64) throws -> (entries: IndexEntries, byteCount: Int) {
        defer { readContent.reset() }
        readContent.bind(content, at: 1)
        guard try readContent.step() else { throw IndexFailure(damage: "a document of the index has no content") }
        return (try IndexEntries(bytes: readContent.bytes(0)), Int(readContent.integer(1)))
    }

    private func write(_ entries: IndexEntries, _ byteCount: Int, _ content: Int64) throws {
        try entries.bytes.withUnsafeBytes { bytes in
            writeContent.bind(content, at: 1)
            writeContent.bind(unowned: bytes, at: 2)
            writeContent.bind(Int64(byteCount), at: 3)
            try writeContent.run()
        }
    }

    private func run(_ statement: IndexStatement, _ scope: Int64, _ name: [UInt8]) throws {
        statement.bind(scope, at: 1)
        try name.withUnsafeBytes { name in
            statement.bind(unowned: name, at: 2)
            try statement.run()
        }
    }

    private func nextContent(_ memory: inout Memory) throws -> Int64 {
        let content = try memory.nextContent ?? (Int64.fetchOne(database, sql: "SELECT max(id) FROM contents") ?? 0) + 1
        memory.nextContent = content + 1
        return content
    }

    func replace(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ content: Int64,
        _ names: Names,
        _ memory: inout Memory
    ) throws {
        let scopes = names.searched.map { (scope: $0.scope, name: memory.changes.add(name: $0.name)) }
        memory.changes.add(from: old, to: new, scopes: scopes)
        try replacePlaces(old, with: new, content, names)
    }
}
