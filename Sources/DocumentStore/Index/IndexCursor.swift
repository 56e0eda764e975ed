internal import DocumentModel

/// Runs through the rows of a scan, each read when it is asked for.
///
/// A collection group's rows come from two places and are merged. Used only where its snapshot is, and not after it.
final class IndexCursor {
    private let snapshot: IndexSnapshot
    private var sources: [Source]
    private var rows = 0
    private let isDescending: Bool
    /// Which of the sources the row is of; nil before the first, and when there is none.
    private var current: Int?
    private var isBegun = false

    /// Merges sources.
    init(_ snapshot: IndexSnapshot, _ sources: [Source], isDescending: Bool) {
        self.snapshot = snapshot
        self.sources = sources
        self.isDescending = isDescending
    }

    /// Goes to the next row; false at the end.
    func next() throws(StatusError) -> Bool {
        rows += 1
        if rows.isMultiple(of: Self.checkedRows) { try snapshot.checkCancellation() }
        do throws(IndexFailure) {
            if let current {
                try sources[current].step()
            } else if !isBegun {
                for index in sources.indices { try sources[index].step() }
                isBegun = true
            }
        } catch {
            throw error.status
        }
        current = first
        return current != nil
    }

    /// The key of the row's value, until the next row; empty for documents.
    var value: UnsafeRawBufferPointer { current.map { sources[$0].value } ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    /// Runs `body` with the key of the document's name.
    func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let current else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return sources[current].withName(body)
    }

    /// In how many of the places that it is looked up in the document is, up to the first that it isn't in.
    var foundCount: Int { current.map { sources[$0].foundCount } ?? 0 }

    /// Where the row is, to go on behind it later.
    var position: IndexScan.Position {
        guard let current else { return IndexScan.Position(value: [], name: []) }
        return IndexScan.Position(value: Array(sources[current].value), name: sources[current].name)
    }

    /// After how many rows it is looked whether anybody still wants them.
    private static let checkedRows = 64

    private var first: Int? {
        var first: Int?
        for index in sources.indices where sources[index].hasRow {
            guard let best = first else {
                first = index
                continue
            }
            let order = sources[index].compare(sources[best])
            if isDescending ? order > 0 : order < 0 { first = index }
        }
        return first
    }
}

extension IndexCursor {
    /// Entries of one value, in which a row's document is looked up.
    struct Look {
        let space: Int64
        let value: [UInt8]
    }

    /// The rows of one space.
    final class Source {
        private(set) var hasRow = false
        private let snapshot: IndexSnapshot
        private let sql: String
        private let statement: IndexStatement
        private let isEmpty: Bool
        private let hasLooks: Bool
        /// What belongs before the names in the space.
        private let prefix: [UInt8]
        /// The whole name of the row, where a prefix belongs to it.
        private var composed: [UInt8]

        init(_ snapshot: IndexSnapshot, _ scan: IndexScan, _ space: IndexSnapshot.Space, _ looks: [Look]) throws {
            let prefix = space.scope.prefix
            let all = scan.bounds
            let bounds = all.inside(prefix)
            (sql, statement) = try snapshot.statement(for: scan, bounds ?? all, looks: looks.count)
            statement.bind(space.number, bounds ?? all)
            for (number, look) in looks.enumerated() { statement.bind(look, number: number) }
            isEmpty = bounds == nil
            hasLooks = !looks.isEmpty
            self.snapshot = snapshot
            self.prefix = prefix
            composed = prefix
        }

        deinit {
            snapshot.giveBack(statement, sql)
        }

        func step() throws(IndexFailure) {
            hasRow = isEmpty ? false : try statement.step()
            guard hasRow, !prefix.isEmpty else { return }
            composed.removeSubrange(prefix.count...)
            composed.append(contentsOf: statement.bytes(1))
        }

        var foundCount: Int { hasLooks ? Int(statement.integer(2)) : 0 }

        var value: UnsafeRawBufferPointer { statement.bytes(0) }

        var name: [UInt8] { prefix.isEmpty ? Array(statement.bytes(1)) : composed }

        func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            if prefix.isEmpty { return body(statement.bytes(1)) }
            return composed.withUnsafeBytes(body)
        }

        func compare(_ other: Source) -> Int {
            let values = value.compare(other.value)
            if values != 0 { return values }
            return withName { name in other.withName { name.compare($0) } }
        }
    }
}
