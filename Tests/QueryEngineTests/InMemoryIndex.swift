import DocumentModel
import DocumentStore
import QueryEngine

/// An index in sorted arrays, which derives its rows from the documents and not from the bounds of a scan.
final class InMemoryIndex: QueryIndex {
    private struct RowKey: Hashable {
        let target: IndexTarget
        let index: IndexScan.Index
    }

    let commitTime: Timestamp?
    private let documents: [Document]
    private let policies: [CollectionID: IndexingPolicy]
    private var rows: [RowKey: [IndexScan.Position]] = [:]
    private var named: [IndexTarget: [[UInt8]: Document]] = [:]

    init(_ documents: [Document], at commitTime: Timestamp, policies: [CollectionID: IndexingPolicy] = [:]) {
        self.documents = documents
        self.commitTime = commitTime
        self.policies = policies
    }

    func policy(of collection: CollectionID?) -> IndexingPolicy {
        collection.map { policies[$0] ?? IndexingPolicy() } ?? .namesOnly
    }

    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath] { [] }

    func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) -> any IndexCursor {
        InMemoryCursor(rows(of: scan), lookups.map { names(of: $0, in: scan.target) })
    }

    func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) -> any IndexProbe {
        InMemoryProbe(names: names(of: lookup, in: target))
    }

    func forEachEntry(_ scan: IndexScan, _ body: (IndexEntry) throws(StatusError) -> Bool) throws(StatusError) {
        for row in rows(of: scan).reversed() {
            let result = row.value.withUnsafeBytes { value in
                row.name.withUnsafeBytes { name in
                    Result { () throws(StatusError) in
                        try body(IndexEntry(value: value, isDouble: isDouble(row, scan), name: name))
                    }
                }
            }
            guard try result.get() else { return }
        }
    }

    private func isDouble(_ row: IndexScan.Position, _ scan: IndexScan) -> Bool {
        guard case .values(let field) = scan.index else { return false }
        if named[scan.target] == nil {
            let documents = documents.filter { scan.target.contains($0.path) }
            named[scan.target] = Dictionary(uniqueKeysWithValues: documents.map { (scan.target.name(of: $0.path), $0) })
        }
        if case .double? = named[scan.target]?[row.name]?.fields[field] { return true }
        return false
    }

    func count(_ scan: IndexScan, limit: Int?) -> Int {
        min(rows(of: scan).count, limit ?? .max)
    }

    func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        for document in documents where target.contains(document.path) && !policy(of: document.path.collection.id).isExempt(field)
        {
            guard case .geoPoint(let point)? = document.fields[field] else { continue }
            let found = GeoIndexBox(point)
            guard boxes.contains(where: { $0.overlaps(found) }), !excluded.contains(where: { $0.overlaps(found) }) else {
                continue
            }
            let result = target.name(of: document.path).withUnsafeBytes { name in
                Result { () throws(StatusError) in try body(name) }
            }
            guard try result.get() else { return }
        }
    }

    func forEachVector(
        _ target: IndexTarget,
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws(StatusError) {
        for document in documents where target.contains(document.path) {
            var continues = true
            try withVector(of: document, target.name(of: document.path), field) { vector throws(StatusError) in
                continues = try body(vector)
            }
            guard continues else { return }
        }
    }

    func vectorLookup(_ target: IndexTarget, _ field: FieldPath) -> any IndexVectorLookup {
        InMemoryVectorLookup { name, body throws(StatusError) in
            for document in self.documents where target.contains(document.path) && target.name(of: document.path) == name {
                try self.withVector(of: document, name, field, body)
            }
        }
    }

    private func withVector(
        of document: Document,
        _ name: [UInt8],
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Void
    ) throws(StatusError) {
        guard case .vector(let vector)? = document.fields[field] else { return }
        let packed = PackedVector(vector)
        let result = name.withUnsafeBytes { name in
            packed.bytes.withUnsafeBytes { bytes in
                Result { () throws(StatusError) in try body(IndexVector(name: name, bytes: bytes, isExact: packed.isExact)) }
            }
        }
        try result.get()
    }

    func checkCancellation() {}

    private func names(of lookup: IndexScan.PointLookup, in target: IndexTarget) -> Set<[UInt8]> {
        Set(rows(of: target, lookup.index).filter { $0.value == lookup.value }.map(\.name))
    }

    private func rows(of scan: IndexScan) -> [IndexScan.Position] {
        let ascending = rows(of: scan.target, scan.index).filter { row in
            let isInValues =
                scan.index == .documents
                || !row.value.lexicographicallyPrecedes(scan.values.lower)
                    && row.value.lexicographicallyPrecedes(scan.values.upper)
            let isInNames = scan.names?.contains(NameBound(row.name)) ?? true
            let isAfter = scan.after.map { scan.isDescending ? row < $0 : $0 < row } ?? true
            return isInValues && isInNames && isAfter
        }
        return scan.isDescending ? ascending.reversed() : ascending
    }

    private func rows(of target: IndexTarget, _ index: IndexScan.Index) -> [IndexScan.Position] {
        let key = RowKey(target: target, index: index)
        if let known = rows[key] { return known }
        var found: [IndexScan.Position] = []
        for document in documents where target.contains(document.path) {
            let name = target.name(of: document.path)
            for value in values(of: document, index) { found.append(IndexScan.Position(value: value, name: name)) }
        }
        found.sort()
        rows[key] = found
        return found
    }

    private func values(of document: Document, _ index: IndexScan.Index) -> Set<[UInt8]> {
        let policy = policy(of: document.path.collection.id)
        switch index {
        case .documents:
            return [[]]
        case .values(let field):
            guard !policy.isExempt(field), let value = document.fields[field] else { return [] }
            return [ValueKey(value).bytes]
        case .elements(let field):
            guard !policy.isExempt(field), case .array(let elements)? = document.fields[field] else { return [] }
            return Set(elements.map { ValueKey($0).bytes })
        case .composite(let fields):
            guard policy.composites.contains(fields) else { return [] }
            var key = CompositeKey()
            for field in fields {
                guard let value = document.fields[field.field] else { return [] }
                key.append(ValueKey(value).bytes, field.direction)
            }
            return [key.bytes]
        }
    }
}

/// A cursor over rows in an array.
private final class InMemoryCursor: IndexCursor {
    private var rows: ArraySlice<IndexScan.Position>
    private let probes: [Set<[UInt8]>]
    private var current: IndexScan.Position?
    /// A copy of the value of the current row.
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    init(_ rows: [IndexScan.Position], _ probes: [Set<[UInt8]>]) {
        self.rows = rows[...]
        self.probes = probes
    }

    deinit {
        buffer.deallocate()
    }

    func next() -> Bool {
        current = rows.popFirst()
        buffer.deallocate()
        buffer = .allocate(byteCount: current?.value.count ?? 0, alignment: 1)
        buffer.copyBytes(from: current?.value ?? [])
        return current != nil
    }

    var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer) }

    var name: [UInt8] { current?.name ?? [] }

    var matchedProbeCount: Int { probes.prefix { $0.contains(name) }.count }
}

/// A probe of a set of names.
private final class InMemoryProbe: IndexProbe {
    private let names: Set<[UInt8]>

    init(names: Set<[UInt8]>) {
        self.names = names
    }

    func contains(_ name: [UInt8]) -> Bool { names.contains(name) }
}

/// A lookup of vectors.
private final class InMemoryVectorLookup: IndexVectorLookup {
    typealias Body = (IndexVector) throws(StatusError) -> Void

    private let find: ([UInt8], Body) throws(StatusError) -> Void

    init(_ find: @escaping ([UInt8], Body) throws(StatusError) -> Void) {
        self.find = find
    }

    func withVector(of name: [UInt8], _ body: Body) throws(StatusError) { try find(name, body) }
}

extension IndexTarget {
    fileprivate func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .collection(let collection): path.collection == collection
        case .group(let id, let parent): path.collection.id == id && path.isBelow(parent)
        case .all(let parent): path.isBelow(parent)
        }
    }

    fileprivate func name(of path: DocumentPath) -> [UInt8] {
        if case .collection = self { NameKey(path.id).bytes } else { NameKey(path).bytes }
    }
}

extension DocumentPath {
    fileprivate func isBelow(_ parent: DocumentPath?) -> Bool {
        guard let parent else { return true }
        return segments.count > parent.segments.count && segments.starts(with: parent.segments)
    }
}
