internal import DocumentModel

/// Which rows of scans can't be of documents that fulfil a filter, as a look into the index at their names tells.
///
/// What all of them must have is looked up while the rows are read; what they may have one of, by a ``NameSieve``.
struct RowSieve {
    private let points: [IndexScan.Point]
    /// Nil when the points tell all.
    private let names: NameSieve?
    private let scanning: IndexScanning

    /// How many looks are joined with a scan: SQLite joins 64 tables at most, and few filters have more.
    private static let maximumPoints = 8

    /// - Parameter fields: The fields of which it is known already.
    init(
        _ alternatives: [QueryAlternative],
        otherThan fields: Set<FieldPath> = [],
        _ scanning: IndexScanning
    ) throws(StatusError) {
        var tests = alternatives.map { $0.looks(otherThan: fields) }
        var points: [IndexScan.Point] = []
        if tests.count == 1 {
            tests[0].removeAll { test in
                guard test.ranges.count == 1, points.count < Self.maximumPoints else { return false }
                points += test.points
                return true
            }
        }
        self.points = points
        names = tests.contains(where: \.isEmpty) ? nil : try NameSieve(tests: tests, scanning)
        self.scanning = scanning
    }

    /// Runs through a scan's rows. Those that don't pass are among them.
    func cursor(_ scan: IndexScan) throws(StatusError) -> IndexCursor {
        try scanning.snapshot.cursor(scan, lookingIn: points)
    }

    /// The document of the cursor's row; nil when it does not pass.
    func document(_ cursor: IndexCursor) throws(StatusError) -> DocumentPath? {
        let found = cursor.foundCount
        scanning.rows += 1 + min(found + 1, points.count)
        guard found == points.count else { return nil }
        let name = cursor.withName { Array($0) }
        if let names, try !names.passes(name) { return nil }
        return scanning.names.path(name)
    }
}
