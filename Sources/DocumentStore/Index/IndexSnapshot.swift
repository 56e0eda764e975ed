internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// The index as some commit left it, for as long as somebody reads it.
///
/// It lives on the thread that it was given on. Everything it gives is in the order of the index and read as it is asked for,
/// so it takes no more memory for a million rows than for one. While it lives the index can't reuse the room of what was
/// changed since, so nobody should keep one for long.
///
/// All calls throw `.cancelled` once the reader's task is cancelled, and `.unavailable` when the index can't be read.
final class IndexSnapshot {
    /// The last commit that is in it.
    let sequence: SequenceNumber
    /// That one's time; nil before the first.
    let commitTime: Timestamp?

    private let database: Database
    private let reader: IndexReader
    private var numbers = IndexNumbers()
    private var statements: [String: [IndexStatement]] = [:]
    private var owned: [Statement] = []
    private var isEnded = false

    /// Begins to read, in a transaction.
    init(_ database: Database, _ reader: IndexReader) throws {
        guard let state = try IndexState(database) else { throw IndexFailure(damage: "the index is of another version") }
        sequence = state.sequence
        commitTime = state.time
        self.database = database
        self.reader = reader
    }

    /// Throws when the reader's task is cancelled: an interruption reaches only what is running at that moment.
    func checkCancellation() throws(StatusError) {
        if reader.isCancelled { throw StatusError(.cancelled, "The query was cancelled.") }
    }

    /// Ends all cursors.
    func end() {
        isEnded = true
        statements = [:]
        owned = []
    }

    /// Runs through entries or documents.
    func cursor(_ scan: IndexScan) throws(StatusError) -> IndexCursor {
        try failing { () throws in
            let sources = try spaces(of: scan.target, scan.subject).map { space in
                try IndexCursor.Source(self, scan, space.number, prefix: space.prefix)
            }
            return try IndexCursor(self, sources, isDescending: scan.isDescending)
        }
    }

    /// How many rows a scan has, counted up to `limit`.
    func count(_ scan: IndexScan, limit: Int? = nil) throws(StatusError) -> Int {
        try failing { () throws in
            var count = 0
            for space in try spaces(of: scan.target, scan.subject) {
                let rest = limit.map { $0 - count }
                if let rest, rest <= 0 { break }
                count += try self.count(scan, space.number, prefix: space.prefix, limit: rest)
            }
            return count
        }
    }

    /// Gives the names of the documents with a geo point in a box; some may be right beside it, by a ten-millionth of a degree.
    ///
    /// - Parameter body: Called with each name, in no order, until it returns false.
    func forEachPlace(
        _ target: IndexTarget,
        _ field: FieldPath,
        in box: IndexPlace,
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try failing { () throws in
            let below: [UInt8]? =
                if case .group(_, below: let parent?) = target { NameKey(parent).bytes } else { nil }
            for space in try spaces(of: target, .values(of: field)) {
                try forEachPlace(space, below: below, in: box, body)
            }
        }
    }
}

// MARK: - Spaces

extension IndexSnapshot {
    /// Where rows of a target are.
    private struct Space {
        let number: Int64
        /// What stands before the names there.
        var prefix: [UInt8] = []
    }

    /// The spaces that a target's rows are in; none where there is no such collection or field.
    private func spaces(of target: IndexTarget, _ subject: IndexScan.Subject) throws -> [Space] {
        let slot: Int64?
        switch subject {
        case .documents: slot = nil
        case .values(of: let path):
            guard let field = try field(path) else { return [] }
            slot = IndexSpace.slot(field: field, kind: .value)
        case .elements(of: let path):
            guard let field = try field(path) else { return [] }
            slot = IndexSpace.slot(field: field, kind: .element)
        }
        return try scopes(of: target).map { scope in
            Space(number: slot.map { IndexSpace(scope: scope.number, slot: $0).number } ?? scope.number, prefix: scope.prefix)
        }
    }

    private func scopes(of target: IndexTarget) throws -> [Space] {
        switch target {
        case .collection(let path):
            return try scope(IndexNumbers.name(of: path)).map { [Space(number: $0)] } ?? []
        case .group(let id, below: let parent):
            var scopes: [Space] = []
            if let nested = try scope(IndexNumbers.name(ofGroup: id)) { scopes.append(Space(number: nested)) }
            // A collection at the top is below no document.
            let top = CollectionPath(parent: nil, id: id)
            if parent == nil, let own = try scope(IndexNumbers.name(of: top)) {
                scopes.append(Space(number: own, prefix: NameKey(top).bytes))
            }
            return scopes
        }
    }

    private func scope(_ name: UTF8Key) throws -> Int64? {
        try numbers.scope(name, making: false, in: database)
    }

    private func field(_ path: FieldPath) throws -> Int64? {
        var number: Int64 = 0
        for segment in path.segments {
            guard let next = try numbers.field(segment, under: number, making: false, in: database) else { return nil }
            number = next
        }
        return number
    }
}

// MARK: - Statements

extension IndexSnapshot {
    /// A statement that runs through a scan's rows in a space.
    func statement(for scan: IndexScan, _ bounds: IndexScan.Bounds) throws -> (sql: String, IndexStatement) {
        let direction = scan.isDescending ? "DESC" : "ASC"
        let sql =
            switch scan.subject {
            case .documents:
                "SELECT x'', name FROM documents WHERE \(Self.documentsCondition) ORDER BY name \(direction)"
            case .values, .elements:
                "SELECT value, name FROM entries WHERE \(Self.entriesCondition(bounds)) ORDER BY value \(direction), name \(direction)"
            }
        if let free = statements[sql]?.popLast() { return (sql, free) }
        return (sql, try IndexStatement(separate: sql, database, &owned))
    }

    /// Takes a statement back for the next cursor.
    func giveBack(_ statement: IndexStatement, _ sql: String) {
        guard !isEnded else { return }
        statement.reset()
        statements[sql, default: []].append(statement)
    }

    private func count(_ scan: IndexScan, _ space: Int64, prefix: [UInt8], limit: Int?) throws -> Int {
        let bounds = scan.bounds.inside(prefix)
        guard let bounds else { return 0 }
        let rows =
            scan.subject == .documents
            ? "FROM documents WHERE \(Self.documentsCondition)" : "FROM entries WHERE \(Self.entriesCondition(bounds))"
        let sql = limit == nil ? "SELECT count(*) \(rows)" : "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT ?8)"
        let statement = try IndexStatement(sql, database)
        defer { statement.reset() }
        statement.bind(space, bounds)
        if let limit { statement.bind(Int64(limit), at: 8) }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    private static let documentsCondition = "scope = ?1 AND name >= ?3 AND name < ?5"

    private static func entriesCondition(_ bounds: IndexScan.Bounds) -> String {
        "space = ?1 AND (value, name) >= (?2, ?3) AND (value, name) < (?4, ?5)"
            + (bounds.names == nil ? "" : " AND name >= ?6 AND name < ?7")
    }

    private func forEachPlace(
        _ space: Space,
        below: [UInt8]?,
        in box: IndexPlace,
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws {
        let number = try Int64.fetchOne(database, sql: "SELECT id FROM placeSpaces WHERE space = ?", arguments: [space.number])
        guard let number else { return }
        let statement = try IndexStatement(
            """
            SELECT name FROM places WHERE minSpace >= ?1 AND maxSpace <= ?2 AND maxLatitude >= ?3 AND minLatitude <= ?4
            AND maxLongitude >= ?5 AND minLongitude <= ?6
            """,
            database
        )
        defer { statement.reset() }
        let spaces = IndexPlace.spaces(number)
        let bounds = [
            spaces.lower, spaces.upper, Int64(box.latitudes.lowerBound), Int64(box.latitudes.upperBound),
            Int64(box.longitudes.lowerBound), Int64(box.longitudes.upperBound),
        ]
        for (index, bound) in bounds.enumerated() { statement.bind(bound, at: Int32(index + 1)) }
        var name: [UInt8] = space.prefix
        while try statement.step() {
            let own = statement.bytes(0)
            if let below, !own.starts(with: below) { continue }
            name.removeSubrange(space.prefix.count...)
            name.append(contentsOf: own)
            guard try name.withUnsafeBytes({ name throws(StatusError) in try body(name) }) else { return }
        }
    }

    private func failing<Result>(_ body: () throws -> Result) throws(StatusError) -> Result {
        try checkCancellation()
        do {
            return try body()
        } catch let error as StatusError {
            throw error
        } catch {
            throw IndexFailure(error).status
        }
    }
}

extension IndexStatement {
    /// Binds the bounds of a scan in a space.
    func bind(_ space: Int64, _ bounds: IndexScan.Bounds) {
        bind(space, at: 1)
        bind(bounds.lower.value, at: 2)
        bind(bounds.lower.name, at: 3)
        bind(bounds.upper.value, at: 4)
        bind(bounds.upper.name, at: 5)
        guard let names = bounds.names else { return }
        bind(names.lowerBound.bytes, at: 6)
        bind(names.upperBound.bytes, at: 7)
    }
}

extension IndexScan.Bounds {
    /// The bounds where all names begin with `prefix`, in names without it; nil when nothing is between them.
    func inside(_ prefix: [UInt8]) -> Self? {
        guard !prefix.isEmpty else { return self }
        var bounds = self
        bounds.lower = lower.inside(prefix)
        bounds.upper = upper.inside(prefix)
        if let names {
            let inner = IndexScan.Position.bound(names.lowerBound.bytes, inside: prefix)
            let outer = IndexScan.Position.bound(names.upperBound.bytes, inside: prefix)
            guard inner.lexicographicallyPrecedes(outer) else { return nil }
            bounds.names = NameBound(inner)..<NameBound(outer)
        }
        return bounds.lower < bounds.upper ? bounds : nil
    }
}

extension IndexScan.Position {
    fileprivate func inside(_ prefix: [UInt8]) -> Self {
        Self(value: value, name: Self.bound(name, inside: prefix))
    }

    /// The bound among names that begin with `prefix`, without it.
    fileprivate static func bound(_ bytes: [UInt8], inside prefix: [UInt8]) -> [UInt8] {
        if bytes.starts(with: prefix) { return Array(bytes.dropFirst(prefix.count)) }
        return bytes.lexicographicallyPrecedes(prefix) ? [] : [0xff]
    }
}
