internal import DocumentModel
internal import QueryEngine

/// A cursor over the rows of a scan. Rows are read on demand.
///
/// The rows of a collection group come from two spaces and are merged. A cursor must be used on its snapshot's thread, while the
/// snapshot exists.
final class SQLiteIndexCursor: IndexCursor {
    private let snapshot: IndexSnapshot
    private var sources: [Source]
    private var rowCount = 0
    private let isDescending: Bool
    /// The index of the source of the current row; `nil` before the first row and at the end.
    private var current: Int?
    private var isStarted = false

    init(_ snapshot: IndexSnapshot, _ sources: [Source], isDescending: Bool) {
        self.snapshot = snapshot
        self.sources = sources
        self.isDescending = isDescending
    }

    /// Advances to the next row; `false` at the end.
    func next() throws(StatusError) -> Bool {
        rowCount += 1
        if rowCount.isMultiple(of: Self.cancellationCheckInterval) { try snapshot.checkCancellation() }
        do throws(IndexDatabaseError) {
            if let current {
                try sources[current].step()
            } else if !isStarted {
                for index in sources.indices { try sources[index].step() }
                isStarted = true
            }
        } catch {
            throw error.status
        }
        current = first
        return current != nil
    }

    /// The key of the row's value, valid until the next step; empty in ``IndexScan/Index/documents``.
    var value: UnsafeRawBufferPointer { current.map { sources[$0].value } ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    /// The key of the document's name.
    var name: [UInt8] { current.map { sources[$0].name } ?? [] }

    /// The number of joined probes that find the row's document, up to the first that does not.
    var matchedProbeCount: Int { current.map { sources[$0].matchedProbeCount } ?? 0 }

    /// The number of rows between two checks for cancellation.
    private static let cancellationCheckInterval = 64

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

extension SQLiteIndexCursor {
    /// A point lookup of each row's document, joined with the scan.
    struct JoinedProbe {
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
        private let hasProbes: Bool
        /// The prefix that the names in the space omit.
        private let prefix: [UInt8]
        /// The row's name with the prefix.
        private var prefixedName: [UInt8]

        init(_ snapshot: IndexSnapshot, _ scan: IndexScan, _ space: IndexSnapshot.Space, _ probes: [JoinedProbe]) throws {
            let prefix = space.scope.prefix
            let targetBounds = scan.bounds
            let bounds = targetBounds.removingPrefix(prefix)
            (sql, statement) = try snapshot.scanStatement(scan, bounds ?? targetBounds, probeCount: probes.count)
            statement.bind(space.id, bounds ?? targetBounds)
            for (index, probe) in probes.enumerated() { statement.bind(probe, index: index) }
            isEmpty = bounds == nil
            hasProbes = !probes.isEmpty
            self.snapshot = snapshot
            self.prefix = prefix
            prefixedName = prefix
        }

        deinit {
            snapshot.recycle(statement, sql)
        }

        func step() throws(IndexDatabaseError) {
            hasRow = isEmpty ? false : try statement.step()
            guard hasRow, !prefix.isEmpty else { return }
            prefixedName.removeSubrange(prefix.count...)
            prefixedName.append(contentsOf: statement.bytes(1))
        }

        var matchedProbeCount: Int { hasProbes ? Int(statement.integer(2)) : 0 }

        var value: UnsafeRawBufferPointer { statement.bytes(0) }

        var name: [UInt8] { prefix.isEmpty ? Array(statement.bytes(1)) : prefixedName }

        private func withName<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            if prefix.isEmpty { return body(statement.bytes(1)) }
            return prefixedName.withUnsafeBytes(body)
        }

        func compare(_ other: Source) -> Int {
            let values = value.compare(other.value)
            if values != 0 { return values }
            return withName { name in other.withName { name.compare($0) } }
        }
    }
}
