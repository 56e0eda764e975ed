internal import DocumentModel
internal import QueryEngine

extension EngineIndex {
    func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) throws(StatusError) -> any IndexCursor {
        guard let slot = fields.slot(of: scan.index) else {
            let probes = try lookups.map { lookup throws(StatusError) in try probe(lookup, of: scan.target) }
            return DocumentCursor(self, scan, probes)
        }
        let probes = lookups.compactMap { lookup in fields.slot(of: lookup.index).map { (slot: $0, value: lookup.value) } }
        let sources = EntrySpace.spaces(of: scan.target, slot: slot).map { EntryRows(self, scan, $0, probing: probes) }
        return EntryCursor(self, sources, isDescending: scan.isDescending, pathPrefix: scan.target.namePrefix)
    }

    func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) throws(StatusError) -> any IndexProbe {
        guard let slot = fields.slot(of: lookup.index) else { throw Self.notIndexed }
        return EntryProbe(self, EntrySpace.spaces(of: target, slot: slot), lookup.value, pathPrefix: target.namePrefix)
    }

    func forEachEntry(_ scan: IndexScan, _ body: (IndexEntry) throws(StatusError) -> Bool) throws(StatusError) {
        guard let slot = fields.slot(of: scan.index) else {
            let cursor = DocumentCursor(self, scan, [])
            while try cursor.next() {
                guard try Self.call(body, [], isDouble: false, cursor.name) else { return }
            }
            return
        }
        for space in EntrySpace.spaces(of: scan.target, slot: slot) {
            let rows = EntryRows(self, scan, space, readsDoubles: true)
            while let row = try rows.next() {
                guard try Self.call(body, row.value, isDouble: row.isDouble, row.name) else { return }
            }
        }
    }

    private static func call(
        _ body: (IndexEntry) throws(StatusError) -> Bool,
        _ value: [UInt8],
        isDouble: Bool,
        _ name: [UInt8]
    ) throws(StatusError) -> Bool {
        let result = value.withUnsafeBytes { value in
            name.withUnsafeBytes { name in
                Result { () throws(StatusError) in try body(IndexEntry(value: value, isDouble: isDouble, name: name)) }
            }
        }
        return try result.get()
    }

    func count(_ scan: IndexScan, limit: Int?) throws(StatusError) -> Int {
        try checkCancellation()
        guard let slot = fields.slot(of: scan.index) else {
            let (lower, upper) = scan.pathBounds
            return try rows.count(
                scan.target.scope,
                from: EngineKey.lowerBound(lower),
                to: EngineKey.upperBound(upper),
                limit: limit ?? .max
            )
        }
        var count = 0
        for space in EntrySpace.spaces(of: scan.target, slot: slot) {
            let rest = limit.map { $0 - count } ?? .max
            guard rest > 0, let bounds = scan.bounds.removingPrefix(space.prefix) else { continue }
            if EntrySpace.hasLongNames(bounds) {
                let rows = EntryRows(self, scan, space)
                var found = 0
                while found < rest, try rows.next() != nil { found += 1 }
                count += found
            } else {
                count += try space.count(bounds, limit: rest, in: rows)
            }
        }
        return count
    }

    static let notIndexed = StatusError(.internal, "The plan of the query uses an index that the engine does not have.")
}

extension IndexScan {
    /// The bounds of a scan by name, as keys of whole paths.
    fileprivate var pathBounds: (lower: [UInt8], upper: [UInt8]) {
        let (prefix, bounds) = (target.namePrefix, bounds)
        return (prefix + bounds.lower.name, prefix + bounds.upper.name)
    }
}

/// A cursor over the entries of a scan. Those of a collection group come from two scopes and are merged.
private final class EntryCursor: IndexCursor, NameLookahead {
    private let index: EngineIndex
    private let sources: [EntryRows]
    private let isDescending: Bool
    private let pathPrefix: [UInt8]
    /// The next row of each source.
    private var heads: [EntryRows.Row?]
    private var isStarted = false
    /// The index of the source of the current row.
    private var currentSource = 0
    private var row = EntryRows.Row(value: [], name: [])
    /// A copy of the current row's value, at a stable address.
    private let valueBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ValueKey.maximumBytes + 1, alignment: 1)

    init(_ index: EngineIndex, _ sources: [EntryRows], isDescending: Bool, pathPrefix: [UInt8]) {
        self.index = index
        self.sources = sources
        self.isDescending = isDescending
        self.pathPrefix = pathPrefix
        heads = Array(repeating: nil, count: sources.count)
    }

    deinit {
        valueBuffer.deallocate()
    }

    func next() throws(StatusError) -> Bool {
        try index.checkCancellation()
        if isStarted {
            if !sources.isEmpty { heads[currentSource] = try sources[currentSource].next() }
        } else {
            for number in sources.indices { heads[number] = try sources[number].next() }
            isStarted = true
        }
        var first: (source: Int, row: EntryRows.Row)?
        for (number, head) in heads.enumerated() {
            guard let head else { continue }
            if let best = first, !precedes(head, best.row) { continue }
            first = (number, head)
        }
        guard let first else { return false }
        (currentSource, row) = (first.source, first.row)
        valueBuffer.copyBytes(from: row.value.prefix(valueBuffer.count))
        if index.lookahead !== self { index.lookahead = self }
        return true
    }

    private func precedes(_ left: EntryRows.Row, _ right: EntryRows.Row) -> Bool {
        let (left, right) = isDescending ? (right, left) : (left, right)
        return left.value == right.value
            ? left.name.lexicographicallyPrecedes(right.name) : left.value.lexicographicallyPrecedes(right.value)
    }

    var value: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: valueBuffer[..<min(row.value.count, valueBuffer.count)])
    }

    var name: [UInt8] { row.name }

    var matchedProbeCount: Int { row.matchedProbeCount }

    // The rows that were fetched cost nothing more, and another cursor costs a round trip.
    var cheapStepCount: Int { sources.reduce(0) { $0 + $1.fetchedCount } }

    func nextKeys(_ count: Int) -> [[UInt8]] {
        sources.isEmpty ? [] : sources[currentSource].nextNames(count).map { pathPrefix + $0 }
    }
}

/// A cursor over the documents of a scan by name.
private final class DocumentCursor: IndexCursor {
    private let index: EngineIndex
    private let documents: DocumentRows
    private let probes: [any IndexProbe]
    private let prefixCount: Int
    private(set) var name: [UInt8] = []
    private(set) var matchedProbeCount = 0

    init(_ index: EngineIndex, _ scan: IndexScan, _ probes: [any IndexProbe]) {
        self.index = index
        self.probes = probes
        let (lower, upper) = scan.pathBounds
        documents = DocumentRows(index.rows, scan.target.scope, from: lower, to: upper, isDescending: scan.isDescending)
        prefixCount = scan.target.namePrefix.count
    }

    func next() throws(StatusError) -> Bool {
        try index.checkCancellation()
        guard let row = try documents.next() else { return false }
        index.current = row.document
        index.lookahead = nil
        name = Array(row.key.dropFirst(prefixCount))
        matchedProbeCount = 0
        for probe in probes {
            guard try probe.contains(name) else { break }
            matchedProbeCount += 1
        }
        return true
    }

    var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// A repeated lookup of the entries with one value, which looks up the next rows of the query's scan together.
private final class EntryProbe: IndexProbe {
    private let index: EngineIndex
    private let spaces: [EntrySpace]
    private let value: [UInt8]
    private let pathPrefix: [UInt8]
    private var known: [[UInt8]: Bool] = [:]

    /// The number of rows that are looked up together.
    private static let batchCount = 64

    init(_ index: EngineIndex, _ spaces: [EntrySpace], _ value: [UInt8], pathPrefix: [UInt8]) {
        self.index = index
        self.spaces = spaces
        self.value = value
        self.pathPrefix = pathPrefix
    }

    func contains(_ name: [UInt8]) throws(StatusError) -> Bool {
        if let known = known[name] { return known }
        try index.checkCancellation()
        let next = index.lookahead?.nextKeys(Self.batchCount) ?? []
        let names = [name] + next.map { Array($0.dropFirst(pathPrefix.count)) }
        var found: Set<[UInt8]> = []
        for space in spaces { found.formUnion(try space.names(names, with: value, in: index.rows)) }
        known = [:]
        for name in names { known[name] = found.contains(name) }
        return found.contains(name)
    }
}
