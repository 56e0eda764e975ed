internal import DocumentModel
internal import QueryEngine

/// The entries of a scan in one scope, in the order of the scan, read batch by batch.
final class EntryRows {
    /// An entry, with the whole name of its document in the target of the scan.
    struct Row {
        var value: [UInt8]
        var name: [UInt8]
        var isDouble = false
        var matchedProbeCount = 0

        fileprivate var position: IndexScan.Position { IndexScan.Position(value: value, name: name) }
    }

    private let index: EngineIndex
    private let space: EntrySpace
    private let lookups: [(slot: Int64, value: [UInt8])]
    private let isDescending: Bool
    private let readsDoubles: Bool
    /// The bounds in the scope; `nil` if they are empty there.
    private let bounds: IndexScan.Bounds?
    /// The bounds of the next batch, with stored names.
    private var stored: IndexScan.Bounds?
    private var fetched: ArraySlice<Row> = []
    /// Rows whose names are equal up to the cut, in the order of their whole names.
    private var sorted: ArraySlice<Row> = []
    private var limit: Int

    /// The size of the first batch of a range of values. Later ones are larger.
    private static let initialLimit = 64
    /// The size of the first batch of a single value, which a join may leave after a few rows.
    private static let initialPointLimit = 16
    private static let maximumLimit = 4_096

    init(
        _ index: EngineIndex,
        _ scan: IndexScan,
        _ space: EntrySpace,
        probing lookups: [(slot: Int64, value: [UInt8])] = [],
        readsDoubles: Bool = false
    ) {
        self.index = index
        self.space = space
        self.lookups = lookups
        self.readsDoubles = readsDoubles
        isDescending = scan.isDescending
        bounds = scan.bounds.removingPrefix(space.prefix)
        limit = bounds.map { $0.lower.value == $0.upper.value } == true ? Self.initialPointLimit : Self.initialLimit
        stored = bounds.map(EntrySpace.stored)
    }

    /// The number of rows that have been fetched and not returned.
    var fetchedCount: Int { fetched.count + sorted.count }

    /// Returns the next row; `nil` at the end.
    func next() throws(StatusError) -> Row? {
        while let row = try nextInOrder() {
            // Bounds with cut names may include more.
            if isInBounds(row) {
                guard !space.prefix.isEmpty else { return row }
                var row = row
                row.name = space.prefix + row.name
                return row
            }
        }
        return nil
    }

    /// Returns the names of the next rows that pass the probes and have been fetched, at most `count`.
    func nextNames(_ count: Int) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for row in fetched where names.count < count && row.matchedProbeCount == lookups.count {
            names.append(space.prefix + row.name)
        }
        return names
    }

    private func isInBounds(_ row: Row) -> Bool {
        guard let bounds else { return false }
        guard EntrySpace.hasLongNames(bounds) || row.name.count > EngineKey.maximumEntryNameBytes else { return true }
        guard row.position >= bounds.lower, row.position < bounds.upper else { return false }
        return bounds.names.map { $0.contains(NameBound(row.name)) } ?? true
    }

    private func nextInOrder() throws(StatusError) -> Row? {
        if let row = sorted.popFirst() { return row }
        guard try fetch(), let row = fetched.popFirst() else { return nil }
        guard row.name.count > EngineKey.maximumEntryNameBytes else { return row }
        let prefix = row.name.prefix(EngineKey.maximumEntryNameBytes)
        var run = [row]
        while try fetch(), let next = fetched.first, next.value == row.value,
            next.name.count > EngineKey.maximumEntryNameBytes, next.name.starts(with: prefix)
        {
            run.append(next)
            fetched.removeFirst()
        }
        run = try space.completingNames(of: run, in: index.rows)
        run.sort { isDescending ? $1.position < $0.position : $0.position < $1.position }
        sorted = run[...]
        return sorted.popFirst()
    }

    /// Reads the next batch if there are no rows left of the last one; returns `false` at the end.
    private func fetch() throws(StatusError) -> Bool {
        guard fetched.isEmpty else { return true }
        guard let bounds = stored, bounds.lower < bounds.upper else { return false }
        try index.checkCancellation()
        let batch = try space.rows(
            bounds,
            probing: lookups,
            isDescending: isDescending,
            readsDoubles: readsDoubles,
            limit: limit,
            in: index.rows
        )
        if batch.count < limit {
            stored = nil
        } else if let last = batch.last {
            // A row that is longer than the stored name would be another one.
            let next = IndexScan.Position(value: last.value, name: last.name + [0])
            if isDescending { stored?.upper = last.position } else { stored?.lower = next }
        }
        limit = min(4 * limit, Self.maximumLimit)
        fetched = batch[...]
        return !fetched.isEmpty
    }
}

/// The entries of an index in one scope.
struct EntrySpace {
    /// The key of the scope.
    let scope: [UInt8]
    let slot: Int64
    /// The start of the names in a target that those in the scope omit.
    let prefix: [UInt8]

    /// Returns the spaces that have the entries of a target's index.
    static func spaces(of target: IndexTarget, slot: Int64) -> [EntrySpace] {
        switch target {
        case .collection(let path): return [EntrySpace(scope: EngineKey.scope(of: path), slot: slot, prefix: [])]
        case .group(let id, below: let parent):
            let nested = EntrySpace(scope: EngineKey.scope(ofGroup: id), slot: slot, prefix: [])
            // A top-level collection is below no document.
            guard parent == nil else { return [nested] }
            let topLevel = CollectionPath(parent: nil, id: id)
            return [
                nested, EntrySpace(scope: EngineKey.scope(of: topLevel), slot: slot, prefix: NameKey(topLevel).bytes),
            ]
        case .all: return []
        }
    }

    /// Returns bounds of stored names, which may include more than `bounds`.
    static func stored(_ bounds: IndexScan.Bounds) -> IndexScan.Bounds {
        let maximum = EngineKey.maximumEntryNameBytes
        var stored = bounds
        stored.lower.name = EngineKey.lowerBound(bounds.lower.name, upTo: maximum)
        stored.upper.name = EngineKey.upperBound(bounds.upper.name, upTo: maximum)
        stored.names = bounds.names.map { names in
            Range(
                from: EngineKey.lowerBound(names.lowerBound.bytes, upTo: maximum),
                to: EngineKey.upperBound(names.upperBound.bytes, upTo: maximum)
            )
        }
        return stored
    }

    /// Returns whether the names of bounds are longer than stored names.
    static func hasLongNames(_ bounds: IndexScan.Bounds) -> Bool {
        [bounds.lower.name, bounds.upper.name, bounds.names?.lowerBound.bytes ?? [], bounds.names?.upperBound.bytes ?? []]
            .contains { $0.count > EngineKey.maximumEntryNameBytes }
    }
}

extension EntrySpace {
    /// The condition on a row of the space and its first parameters: the database, the scope and the slot.
    private static let spaceSQL = """
        e.db = $1::bigint AND e.scope = (SELECT id FROM hearth.scopes WHERE db = $1::bigint AND key = $2::bytea)
        AND e.slot = $3::bigint
        """

    private func parameters(_ snapshot: EngineSnapshot) -> [EngineValue] {
        [.integer(snapshot.database), .bytes(scope), .integer(slot)]
    }

    /// Appends the parameters of bounds, and returns the condition that has them.
    private func condition(_ bounds: IndexScan.Bounds, _ parameters: inout [EngineValue]) -> String {
        var condition = Self.spaceSQL
        func add(_ text: String, _ values: [UInt8]...) {
            var text = text
            for value in values {
                parameters.append(.bytes(value))
                text = text.replacing("?", with: "$\(parameters.count)::bytea", maxReplacements: 1)
            }
            condition += " AND " + text
        }
        if bounds.lower.value == bounds.upper.value {
            add("e.value = ? AND e.name >= ? AND e.name < ?", bounds.lower.value, bounds.lower.name, bounds.upper.name)
        } else {
            if bounds.lower.name.isEmpty {
                add("e.value >= ?", bounds.lower.value)
            } else {
                add("(e.value, e.name) >= (?, ?)", bounds.lower.value, bounds.lower.name)
            }
            if bounds.upper.name.isEmpty {
                add("e.value < ?", bounds.upper.value)
            } else {
                add("(e.value, e.name) < (?, ?)", bounds.upper.value, bounds.upper.name)
            }
        }
        if let names = bounds.names {
            add("e.name >= ? AND e.name < ?", names.lowerBound.bytes, names.upperBound.bytes)
        }
        return condition
    }

    /// Reads rows in bounds of stored names, at most `limit`.
    fileprivate func rows(
        _ bounds: IndexScan.Bounds,
        probing lookups: [(slot: Int64, value: [UInt8])],
        isDescending: Bool,
        readsDoubles: Bool,
        limit: Int,
        in snapshot: EngineSnapshot
    ) throws(StatusError) -> [EntryRows.Row] {
        var parameters = parameters(snapshot)
        let condition = condition(bounds, &parameters)
        parameters.append(.integer(Int64(limit)))
        let limitSQL = "$\(parameters.count)::bigint"
        var joins = ""
        for (number, lookup) in lookups.enumerated() {
            parameters += [.integer(lookup.slot), .bytes(lookup.value)]
            // Each depends on the one before, so that none runs after a miss.
            joins += """
                 LEFT JOIN hearth.entries p\(number) ON p\(number).db = e.db AND p\(number).scope = e.scope
                AND p\(number).slot = $\(parameters.count - 1)::bigint AND p\(number).value = $\(parameters.count)::bytea
                AND p\(number).name = \(number == 0 ? "e" : "p\(number - 1)").name
                """
        }
        let isSingleValue = bounds.lower.value == bounds.upper.value
        var columns = isSingleValue ? "e.name" : "e.name, e.value"
        if readsDoubles { columns += ", CASE WHEN e.is_double THEN 1::bigint ELSE 0::bigint END" }
        for number in lookups.indices { columns += ", CASE WHEN p\(number).name IS NULL THEN 0::bigint ELSE 1::bigint END" }
        let direction = isDescending ? "DESC" : "ASC"
        let order = isSingleValue ? "e.name \(direction)" : "e.value \(direction), e.name \(direction)"
        let sql = "SELECT \(columns) FROM hearth.entries e\(joins) WHERE \(condition) ORDER BY \(order) LIMIT \(limitSQL)"
        let found = try snapshot.connection.execute(EngineStatement(sql, parameters))
        let (valueColumn, doubleColumn) = (isSingleValue ? nil : 1, isSingleValue ? 1 : 2)
        let probeColumn = doubleColumn + (readsDoubles ? 1 : 0)
        var rows: [EntryRows.Row] = []
        rows.reserveCapacity(found.count)
        for row in 0..<found.count {
            guard let name = found.bytes(row, 0) else { throw .damagedRow("an entry has no name") }
            let value = valueColumn.map { found.bytes(row, $0) ?? [] } ?? bounds.lower.value
            var entry = EntryRows.Row(value: value, name: name)
            if readsDoubles { entry.isDouble = found.integer(row, doubleColumn) == 1 }
            entry.matchedProbeCount =
                lookups.indices.first { found.integer(row, probeColumn + $0) != 1 } ?? lookups.count
            rows.append(entry)
        }
        return rows
    }

    /// Returns rows with equal values and cut names, with their whole names.
    fileprivate func completingNames(
        of rows: [EntryRows.Row],
        in snapshot: EngineSnapshot
    ) throws(StatusError) -> [EntryRows.Row] {
        guard let value = rows.first?.value else { return [] }
        let found = try snapshot.connection.execute(
            EngineStatement(
                """
                SELECT e.name, e.long_name FROM hearth.entries e
                WHERE \(Self.spaceSQL) AND e.value = $4::bytea AND e.name = ANY($5::bytea[])
                """,
                parameters(snapshot) + [.bytes(value), .byteStrings(rows.map(\.name))]
            )
        )
        var names: [[UInt8]: [UInt8]] = [:]
        for row in 0..<found.count {
            guard let stored = found.bytes(row, 0), let name = found.bytes(row, 1) else {
                throw .damagedRow("an entry has no long name")
            }
            names[stored] = name
        }
        return rows.compactMap { row in
            guard let name = names[row.name] else { return nil }
            var row = row
            row.name = name
            return row
        }
    }

    /// Returns the number of rows in bounds, counted up to `limit`.
    func count(_ bounds: IndexScan.Bounds, limit: Int, in snapshot: EngineSnapshot) throws(StatusError) -> Int {
        var parameters = parameters(snapshot)
        let condition = condition(Self.stored(bounds), &parameters)
        parameters.append(.integer(Int64(limit)))
        let sql = """
            SELECT count(*) FROM (SELECT 1 FROM hearth.entries e WHERE \(condition) LIMIT $\(parameters.count)::bigint) counted
            """
        return Int(try snapshot.connection.execute(EngineStatement(sql, parameters)).integer(0, 0) ?? 0)
    }

    /// Returns those of some names that have an entry with a value.
    func names(_ names: [[UInt8]], with value: [UInt8], in snapshot: EngineSnapshot) throws(StatusError) -> Set<[UInt8]> {
        var stored: [[UInt8]: [UInt8]] = [:]
        for name in names where name.starts(with: prefix) {
            stored[EngineKey.entryName(Array(name.dropFirst(prefix.count)))] = name
        }
        guard !stored.isEmpty else { return [] }
        let found = try snapshot.connection.execute(
            EngineStatement(
                """
                SELECT e.name FROM hearth.entries e
                WHERE \(Self.spaceSQL) AND e.value = $4::bytea AND e.name = ANY($5::bytea[])
                """,
                parameters(snapshot) + [.bytes(value), .byteStrings(Array(stored.keys))]
            )
        )
        return Set((0..<found.count).compactMap { row in found.bytes(row, 0).flatMap { stored[$0] } })
    }

    /// Reads a page of the vectors of the space, in the order of values and names.
    ///
    /// - Parameter last: The position after which the page starts.
    func vectors(
        after last: IndexScan.Position?,
        limit: Int,
        in snapshot: EngineSnapshot
    ) throws(StatusError) -> [(position: IndexScan.Position, name: [UInt8], vector: [UInt8])] {
        let bracket = ValueKeyRange.bracket(.vector)
        let found = try snapshot.connection.execute(
            EngineStatement(
                """
                SELECT e.value, e.name, e.long_name, e.vector FROM hearth.entries e WHERE \(Self.spaceSQL)
                AND (e.value, e.name) > ($4::bytea, $5::bytea) AND e.value < $6::bytea ORDER BY e.value, e.name LIMIT $7::bigint
                """,
                parameters(snapshot) + [
                    .bytes(last?.value ?? bracket.lower), .bytes(last?.name ?? []), .bytes(bracket.upper), .integer(Int64(limit)),
                ]
            )
        )
        return try (0..<found.count).map { row throws(StatusError) in
            guard let value = found.bytes(row, 0), let name = found.bytes(row, 1), let vector = found.bytes(row, 3) else {
                throw .damagedRow("a vector has no entry")
            }
            return (IndexScan.Position(value: value, name: name), prefix + (found.bytes(row, 2) ?? name), vector)
        }
    }

    /// Reads entries of cells in ranges of keys, in the order of cells and names, after a position.
    func cells(
        in ranges: [ClosedRange<UInt64>],
        after last: (key: UInt64, name: [UInt8])?,
        limit: Int,
        in snapshot: EngineSnapshot
    ) throws(StatusError) -> [(cell: GeoCell, stored: [UInt8], name: [UInt8])] {
        let ranges = ranges.compactMap { range -> ClosedRange<UInt64>? in
            guard let last else { return range }
            return range.upperBound < last.key ? nil : max(range.lowerBound, last.key)...range.upperBound
        }
        let bytes = { (key: UInt64) in withUnsafeBytes(of: key.bigEndian) { Array($0) } }
        let found = try snapshot.connection.execute(
            EngineStatement(
                """
                SELECT c.value, c.name, c.long_name FROM unnest($4::bytea[], $5::bytea[], $6::bytea[]) AS r (low, name, high)
                CROSS JOIN LATERAL (
                    SELECT e.value, e.name, e.long_name FROM hearth.entries e WHERE \(Self.spaceSQL)
                    AND (e.value, e.name) > (r.low, r.name) AND e.value <= r.high ORDER BY e.value, e.name LIMIT $7::bigint
                ) c ORDER BY c.value, c.name LIMIT $7::bigint
                """,
                parameters(snapshot) + [
                    .byteStrings(ranges.map { bytes($0.lowerBound) }),
                    .byteStrings(ranges.map { last?.key == $0.lowerBound ? last?.name : [] }),
                    .byteStrings(ranges.map { bytes($0.upperBound) }), .integer(Int64(limit)),
                ]
            )
        )
        return try (0..<found.count).map { row throws(StatusError) in
            guard let cell = found.bytes(row, 0).flatMap({ GeoCell($0) }), let name = found.bytes(row, 1) else {
                throw .damagedRow("a geo point has no cell")
            }
            return (cell, name, prefix + (found.bytes(row, 2) ?? name))
        }
    }
}
