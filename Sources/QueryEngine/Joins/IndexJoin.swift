internal import DocumentModel

/// A hash join of index scans: finds the documents that are in all of them, and the numbers in some of their fields, without
/// reading documents.
///
/// The names of the smallest scan are loaded into a ``NameTable``, with the numbers if its field is aggregated. Each other scan is
/// then read once, in the order of the index, and looked up in the table. So the cost is that of reading the scans, regardless of
/// how many documents they have in common.
struct IndexJoin {
    /// The scan, or the intersection of point lookups, whose names are loaded.
    private let base: AccessPath
    /// The scans that are joined with the base, in order.
    private let filters: [FieldScan]
    /// The scans with the numbers of each aggregated field.
    private let sums: [FieldScan]
    private let names: Range<NameBound>
    private let index: MeteredIndexReader

    /// The cost of reading a document, relative to that of an entry.
    ///
    /// In a database of 1,000,000 documents, a document takes 16 µs from the page cache and far more from the disk, an entry of a
    /// join 0.2 to 0.8 µs. Ordered scans are charged more for an entry (``QueryPlanner/Cost``), since they move a cursor to each.
    private static let documentCost = 25

    /// Creates a join; `nil` if reading the documents in the smallest scan is cheaper.
    ///
    /// - Parameters:
    ///   - scans: The scans; one of the values of each aggregated field must be among them.
    ///   - fields: The aggregated fields.
    init?(
        _ scans: [FieldScan],
        _ disjunct: FilterDisjunct,
        aggregating fields: [FieldPath],
        _ index: MeteredIndexReader
    ) throws(StatusError) {
        self.index = index
        names = disjunct.names
        sums = fields.compactMap { field in scans.first { $0.index == .values(of: field) } }
        let lookups = scans.filter(\.isPointLookup)
        var paths = lookups.isEmpty ? [] : [AccessPath.intersection(lookups)]
        paths += scans.filter { !$0.isPointLookup }.map(AccessPath.scan)
        guard scans.count > 1, paths.count > 1 || !sums.isEmpty,
            let best = try index.cheapest(paths, disjunct, limit: .max)
        else {
            base = paths.first ?? .fullScan
            filters = []
            return
        }
        base = best.path
        let joined = scans.filter { scan in
            switch best.path {
            case .intersection: !scan.isPointLookup
            case .scan(let loaded): scan.isPointLookup || scan.index != loaded.index
            case .lookup, .geoScan, .fullScan: true
            }
        }
        // An aggregated field last, so that its numbers are added as they are read.
        let aggregated = Set(sums.map(\.index))
        filters = joined.filter { !aggregated.contains($0.index) } + joined.filter { aggregated.contains($0.index) }
        let (limit, overflows) = best.count.multipliedReportingOverflow(by: Self.documentCost)
        guard best.count > 0, !overflows else { return }
        var cost = 0
        for scan in filters + remainingSums.map(\.scan) {
            cost += try index.count(scan, names, limit: limit - cost + 1)
            if cost > limit { return nil }
        }
    }

    /// The index of the aggregated field whose numbers are loaded with the names; `nil` if there is none.
    private var loadedField: Int? {
        let loaded = base.scans
        return loaded.count == 1 ? sums.firstIndex { $0.index == loaded[0].index } : nil
    }

    /// The aggregated fields that are read neither with the base nor with the last filter.
    private var remainingSums: [(field: Int, scan: FieldScan)] {
        let loadedField = loadedField
        return sums.enumerated().filter { $0.offset != loadedField && $0.element.index != filters.last?.index }
            .map { (field: $0.offset, scan: $0.element) }
    }

    /// The plan line of the join.
    var planText: String {
        let loaded = base.scans
        switch base {
        case .fullScan: return "Aggregate all documents in the index"
        case _ where filters.isEmpty && loaded.count == 1: return "Aggregate index entries: \(loaded.planText)"
        default: return "Aggregate the hash join of index scans: \((loaded + filters).planText)"
        }
    }

    /// The only scan, if it has at most one entry per document.
    var singleScan: FieldScan? {
        guard filters.isEmpty, base.scans.count == 1, let scan = base.scans.first, scan.isDistinct, sums.count <= 1 else {
            return nil
        }
        return scan
    }

    /// Calls `add` with the numbers of the documents in a partition, and returns the names of these documents with the number of
    /// steps that they have passed; `nil` if they need too much memory.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum memory use.
    ///   - excluded: Returns whether to skip a document.
    ///   - add: Adds a number of the aggregated field with an index.
    func run(
        in partition: NameTable.Partition,
        maximumBytes: Int,
        excluding excluded: (UnsafeRawBufferPointer, NameTable.Hash) -> Bool,
        add: (Value, _ field: Int) -> Void
    ) throws(StatusError) -> (table: NameTable, steps: Int)? {
        var table = NameTable()
        let loadedField = loadedField
        // The numbers of the loaded field, parallel to the names.
        var numbers: [Value?] = []
        let isLoaded = try forEachEntry { entry in
            let hash = NameTable.Hash(entry.name)
            if partition.contains(hash), !excluded(entry.name, hash) {
                table.insert(entry.name, hash)
                if loadedField != nil, numbers.count < table.count { numbers.append(entry.number) }
            }
            let byteCount = table.byteCount + numbers.count * MemoryLayout<Value?>.stride
            return byteCount <= maximumBytes || partition.halves == nil
        }
        guard isLoaded else { return nil }
        guard table.count > 0 else { return (table, filters.count) }
        for (step, scan) in filters.enumerated() {
            let field = step == filters.count - 1 ? sums.firstIndex { $0.index == scan.index } : nil
            _ = try index.forEachEntry(scan, names) { entry in
                let hash = NameTable.Hash(entry.name)
                guard partition.contains(hash), let index = table.index(of: entry.name, hash), table.hasPassed(index, step)
                else { return true }
                table.pass(index, step + 1)
                if let field, let number = entry.number { add(number, field) }
                return true
            }
        }
        if let loadedField {
            for (index, number) in numbers.enumerated() where table.hasPassed(index, filters.count) {
                if let number { add(number, loadedField) }
            }
        }
        for (field, scan) in remainingSums {
            _ = try index.forEachEntry(scan, names) { entry in
                guard let number = entry.number else { return true }
                let hash = NameTable.Hash(entry.name)
                if partition.contains(hash), let index = table.index(of: entry.name, hash), table.hasPassed(index, filters.count)
                {
                    add(number, field)
                }
                return true
            }
        }
        return (table, filters.count)
    }

    /// Calls `body` with each entry in the base until it returns `false`; returns whether it never did. The entries of an
    /// intersection have only names.
    private func forEachEntry(_ body: (IndexEntry) -> Bool) throws(StatusError) -> Bool {
        switch base {
        case .intersection(let scans) where scans.count > 1:
            let iterator = try index.nameIterator(scans, names, isDescending: false)
            while let name = iterator.current {
                let continues = name.withUnsafeBytes { name in
                    body(IndexEntry(value: UnsafeRawBufferPointer(start: nil, count: 0), isDouble: false, name: name))
                }
                guard continues else { return false }
                try index.snapshot.checkCancellation()
                try iterator.advance()
            }
            return true
        case .fullScan:
            return try index.forEachEntry(index.scan(names), body)
        default:
            guard let scan = base.scans.first else { return true }
            return try index.forEachEntry(scan, names, body)
        }
    }
}

extension AccessPath {
    /// The scans that the path consists of.
    fileprivate var scans: [FieldScan] {
        switch self {
        case .intersection(let scans): scans
        case .scan(let scan): [scan]
        case .lookup, .geoScan, .fullScan: []
        }
    }
}

extension IndexEntry {
    /// The number in the field; `nil` for a value of another type.
    var number: Value? { Value(numberKey: value, isDouble: isDouble) }
}

extension MeteredIndexReader {
    /// Calls `body` with each entry of a field scan, in no defined order, until it returns `false`; returns whether it never did.
    func forEachEntry(
        _ field: FieldScan,
        _ names: Range<NameBound>,
        _ body: (IndexEntry) throws(StatusError) -> Bool
    ) throws(StatusError) -> Bool {
        for range in field.ranges where try !forEachEntry(scan(field, range, names), body) { return false }
        return true
    }

    /// Calls `body` with each entry of a scan, in no defined order, until it returns `false`; returns whether it never did.
    func forEachEntry(
        _ scan: IndexScan,
        _ body: (IndexEntry) throws(StatusError) -> Bool
    ) throws(StatusError) -> Bool {
        var count = 0
        var continues = true
        defer { entriesScanned += count }
        try snapshot.forEachEntry(scan) { entry throws(StatusError) in
            count += 1
            continues = try body(entry)
            return continues
        }
        return continues
    }
}
