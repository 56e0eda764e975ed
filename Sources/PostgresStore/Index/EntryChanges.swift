internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import UTF8Text

/// The changes to the entries of some documents, in a transaction that has locked the row of the database.
struct EntryChanges {
    /// A scope in which a document's fields are indexed, with the document's name there.
    private struct IndexedScope {
        let id: Int64
        let name: [UInt8]
        let storedName: [UInt8]

        init(_ id: Int64, _ name: [UInt8]) {
            self.id = id
            self.name = name
            storedName = EngineKey.entryName(name)
        }
    }

    /// Entries, whose documents are numbers in ``EntryChanges/owners``.
    private struct Entries {
        struct Entry {
            let owner: Int
            let slot: Int64
            /// The range of the value in ``Entries/values``.
            let value: Range<Int>
            let isDouble: Bool
            let vector: [UInt8]?
        }

        private(set) var all: [Entry] = []
        private(set) var values: [UInt8] = []

        mutating func append(
            _ value: ArraySlice<UInt8>,
            in slot: Int64,
            of owners: Range<Int>,
            isDouble: Bool = false,
            vector: [UInt8]? = nil
        ) {
            let start = values.count
            values += value
            for owner in owners {
                all.append(
                    Entry(owner: owner, slot: slot, value: start..<values.count, isDouble: isDouble, vector: vector)
                )
            }
        }
    }

    private let database: Int64
    private let progress: IndexProgress
    private let fields: FieldIDs
    private var encoder = KeyEncoder()
    /// The parents of the fields of the documents with a policy.
    private var parents: [Int64: Int64] = [:]
    private var builds: [CollectionID: ResolvedIndexBuildState] = [:]
    /// The documents, in each of their scopes.
    private var owners: [IndexedScope] = []
    private var removed = Entries()
    private var added = Entries()

    /// - Parameter progress: The policies of the database.
    init(_ database: Int64, _ progress: IndexProgress, _ fields: FieldIDs) {
        self.database = database
        self.progress = progress
        self.fields = fields
    }

    /// Adds the changes for a document that is written or deleted.
    ///
    /// - Parameters:
    ///   - before: Its fields before; `nil` if it did not exist.
    ///   - after: Its fields after; `nil` if it is deleted.
    ///   - collection: The number of the scope of its collection.
    ///   - group: The number of the scope of its collection group.
    mutating func replace(_ before: MapValue?, with after: MapValue?, at path: DocumentPath, collection: Int64, group: Int64) {
        let scopes = appendScopes(path, collection: collection, group: group)
        let (old, new) = (entries(before), entries(after))
        guard let build = build(of: path.collection.id) else { return append(from: old, to: new, (old, new), scopes) }
        let desired = policyEntries(build.desired, new)
        let maintained = policyEntries(build.maintained, old)
        guard !build.isBackfilled else { return append(from: maintained, to: desired, (old, new), scopes) }
        append(from: maintained, to: desired, (old, new), scopes, adding: false)
        append(from: policyEntries(build.readable, old), to: desired, (old, new), scopes, removing: false)
    }

    /// Adds the changes for a document that a backfill processes.
    ///
    /// - Parameter isFill: True if the document may have no entries at all.
    mutating func backfill(_ document: MapValue, at path: DocumentPath, collection: Int64, group: Int64, isFill: Bool) {
        let scopes = appendScopes(path, collection: collection, group: group)
        let all = entries(document)
        let build = build(of: path.collection.id)
        let desired = build.map { policyEntries($0.desired, all) } ?? all
        if let build {
            append(from: policyEntries(build.maintained, all), to: desired, (all, all), scopes, adding: false)
        }
        let existing = isFill ? IndexEntries() : build.map { policyEntries($0.readable, all) } ?? all
        append(from: existing, to: desired, (all, all), scopes, removing: false)
    }

    /// The number of entries that are removed or added.
    var count: Int { removed.all.count + added.all.count }

    /// The statements, the removals first, each with values of a few mebibytes at most, and made when it is needed.
    var statements: some Sequence<EngineStatement> {
        [steps(of: removed, statement: removal), steps(of: added, statement: insertion)].joined()
    }
}

// MARK: - Statements

extension EntryChanges {
    /// The values of a statement. A document that has many entries is in it once.
    private struct Step {
        private var numbers: [Int: Int64] = [:]
        private var owners: [Int64?] = []
        private var slots: [Int64?] = []
        private var values: [[UInt8]?] = []
        private(set) var doubles: [Int64?] = []
        private(set) var vectors: [[UInt8]?] = []
        private var scopes: [Int64?] = []
        /// The stored names of the documents, each followed by the whole one if that is longer.
        private var names: [UInt8] = []
        private var starts: [Int64?] = []
        private var lengths: [Int64?] = []
        private(set) var longLengths: [Int64?] = []
        private(set) var byteCount = 0

        mutating func append(_ entry: Entries.Entry, of entries: Entries, _ owner: IndexedScope) {
            let number = numbers[entry.owner] ?? add(owner)
            numbers[entry.owner] = number
            owners.append(number)
            slots.append(entry.slot)
            values.append(Array(entries.values[entry.value]))
            doubles.append(entry.isDouble ? 1 : 0)
            vectors.append(entry.vector)
            byteCount += 64 + entry.value.count + (entry.vector?.count ?? 0)
        }

        private mutating func add(_ owner: IndexedScope) -> Int64 {
            let start = names.count
            names += owner.storedName
            let isCut = owner.name.count != owner.storedName.count
            if isCut { names += owner.name }
            scopes.append(owner.id)
            // Positions are counted from 1.
            starts.append(Int64(start + 1))
            lengths.append(Int64(owner.storedName.count))
            longLengths.append(Int64(isCut ? owner.name.count : 0))
            byteCount += 64 + names.count - start
            return Int64(scopes.count)
        }

        /// The first parameters of a statement, after the database.
        var keys: [EngineValue] {
            [
                .integers(owners), .integers(slots), .byteStrings(values), .integers(scopes), .bytes(names), .integers(starts),
                .integers(lengths),
            ]
        }

        /// The scope of an entry `r`.
        static let scopeSQL = "($5::bigint[])[CAST(r.owner AS INTEGER)]"
        /// The stored name of an entry `r`. An element of an array of numbers is found at once, unlike one of an array of names.
        static let nameSQL = "substr($6::bytea, \(element(of: "$7")), \(element(of: "$8")))"

        static func element(of parameter: String) -> String {
            "CAST((\(parameter)::bigint[])[CAST(r.owner AS INTEGER)] AS INTEGER)"
        }
    }

    /// The size of the values of a step.
    private static let stepBytes = 2 << 20

    private func steps(
        of entries: Entries,
        statement: @escaping (Step) -> EngineStatement
    ) -> UnfoldSequence<EngineStatement, Int> {
        sequence(state: 0) { [owners] next in
            guard next < entries.all.count else { return nil }
            var step = Step()
            while next < entries.all.count, step.byteCount < Self.stepBytes {
                let entry = entries.all[next]
                step.append(entry, of: entries, owners[entry.owner])
                next += 1
            }
            return statement(step)
        }
    }

    private func removal(_ step: Step) -> EngineStatement {
        EngineStatement(
            """
            DELETE FROM hearth.entries e USING unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS r (owner, slot, value)
            WHERE e.db = $1::bigint AND e.scope = \(Step.scopeSQL) AND e.slot = r.slot AND e.value = r.value AND e.name = \(Step.nameSQL)
            """,
            [.integer(database)] + step.keys
        )
    }

    private func insertion(_ step: Step) -> EngineStatement {
        EngineStatement(
            """
            INSERT INTO hearth.entries (db, scope, slot, value, name, is_double, long_name, vector)
            SELECT $1::bigint, \(Step.scopeSQL), r.slot, r.value, \(Step.nameSQL), r.is_double = 1,
                CASE WHEN \(Step.element(of: "$9")) > 0
                THEN substr($6::bytea, \(Step.element(of: "$7")) + \(Step.element(of: "$8")), \(Step.element(of: "$9"))) END,
                r.vector
            FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $10::bigint[], $11::bytea[])
                AS r (owner, slot, value, is_double, vector)
            ON CONFLICT (db, scope, slot, value, name) DO UPDATE
            SET is_double = excluded.is_double, vector = excluded.vector
            """,
            [.integer(database)] + step.keys + [
                .integers(step.longLengths), .integers(step.doubles), .byteStrings(step.vectors),
            ]
        )
    }
}

// MARK: - Entries

extension EntryChanges {
    /// A document of a top-level collection is in the scope of its collection only, as in the file store; so a group consists of one
    /// scope of nested documents, and at most one top-level collection.
    ///
    /// - Returns: The numbers of the owners.
    private mutating func appendScopes(_ path: DocumentPath, collection: Int64, group: Int64) -> Range<Int> {
        let start = owners.count
        owners.append(IndexedScope(collection, NameKey(path.id).bytes))
        if path.collection.parent != nil { owners.append(IndexedScope(group, NameKey(path).bytes)) }
        return start..<owners.count
    }

    /// Returns the entries of a document without a policy.
    private mutating func entries(_ document: MapValue?) -> IndexEntries {
        guard let document else { return IndexEntries() }
        let keepsParents = !progress.builds.isEmpty
        return IndexEntries(document, &encoder) { [fields] name, parent in
            let id = fields.id(name, under: parent)
            if keepsParents { parents[id] = parent }
            return id
        }
    }

    private mutating func build(of collection: CollectionID) -> ResolvedIndexBuildState? {
        guard let state = progress.builds[collection]?.state else { return nil }
        if let known = builds[collection] { return known }
        let resolved = ResolvedIndexBuildState(state) { fields.resolve($0) }
        builds[collection] = resolved
        return resolved
    }

    private func policyEntries(_ policy: ResolvedIndexingPolicy, _ entries: IndexEntries) -> IndexEntries {
        policy.entries(from: entries) { parents[$0] ?? 0 }
    }

    /// Appends the difference between the old and new entries of a document, for each of its scopes.
    ///
    /// - Parameter whole: The old and the new entries without a policy, which have the vectors.
    private mutating func append(
        from old: IndexEntries,
        to new: IndexEntries,
        _ whole: (old: IndexEntries, new: IndexEntries),
        _ scopes: Range<Int>,
        removing: Bool = true,
        adding: Bool = true
    ) {
        let (old, new) = (withCells(old), withCells(new))
        let hasVectors = adding && !whole.new.vectors.isEmpty
        var addedSlots: Set<Int64> = []
        IndexEntries.forEachDifference(from: old, to: new) { entry in
            if removing { remove(entry, of: old, scopes) }
        } added: { entry in
            if hasVectors { addedSlots.insert(entry.slot) }
            if adding { add(entry, of: new, whole.new, scopes) }
        }
        // A key has only the first components of a vector.
        guard hasVectors else { return }
        for (slot, vector) in whole.new.vectors where !addedSlots.contains(slot) {
            guard let before = whole.old.vectors.first(where: { $0.slot == slot })?.vector, before != vector,
                let entry = new.entries.first(where: { $0.slot == slot })
            else { continue }
            add(entry, of: new, whole.new, scopes)
        }
    }

    /// Returns the entries with those of the cells of geo points.
    private func withCells(_ entries: IndexEntries) -> IndexEntries {
        let points = entries.geoPoints
        guard !points.isEmpty else { return entries }
        var (result, bytes) = (entries.entries, entries.bytes)
        for (slot, point) in points {
            let start = bytes.count
            bytes += GeoCell(point).bytes
            result.append(IndexEntries.Entry(slot: fields.cellSlot(of: slot), value: start..<bytes.count))
        }
        return IndexEntries(sorting: result, bytes)
    }

    private mutating func remove(_ entry: IndexEntries.Entry, of entries: IndexEntries, _ scopes: Range<Int>) {
        removed.append(entries.bytes[entry.value], in: entry.slot, of: scopes)
    }

    private mutating func add(
        _ entry: IndexEntries.Entry,
        of entries: IndexEntries,
        _ whole: IndexEntries,
        _ scopes: Range<Int>
    ) {
        let value = entries.bytes[entry.value]
        let vector =
            value.first == TypeBracket.vector.firstByte
            ? whole.vectors.first { $0.slot == entry.slot }.map { PackedVector($0.vector) } : nil
        added.append(
            value,
            in: entry.slot,
            of: scopes,
            isDouble: entry.isDouble,
            vector: vector.map { [$0.isExact ? 1 : 0] + $0.bytes }
        )
    }
}
