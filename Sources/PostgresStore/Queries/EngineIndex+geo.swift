internal import DocumentModel
internal import QueryEngine

extension EngineIndex {
    func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        let slot = fields.cellSlot(of: IndexEntries.slot(field: fields.id(field), kind: .value))
        let ancestor = target.parent.map { NameKey($0).bytes }
        for space in EntrySpace.spaces(of: target, slot: slot) {
            var excluded = excluded
            for box in boxes {
                let points = GeoPointRows(self, space, box, below: ancestor, outside: excluded, target.namePrefix)
                while let name = try points.next() {
                    let result = name.withUnsafeBytes { name in Result { () throws(StatusError) in try body(name) } }
                    guard try result.get() else { return }
                }
                excluded.append(box)
            }
        }
    }
}

/// The documents with a geo point in a box, read batch by batch.
private final class GeoPointRows: NameLookahead {
    private let index: EngineIndex
    private let space: EntrySpace
    private let box: GeoIndexBox
    private let ancestor: [UInt8]?
    private let excluded: [GeoIndexBox]
    private let pathPrefix: [UInt8]
    private let ranges: [ClosedRange<UInt64>]
    private var last: (key: UInt64, name: [UInt8])?
    private var names: ArraySlice<[UInt8]> = []
    private var isEnd = false
    private var limit = 256

    private static let maximumLimit = 4_096

    init(
        _ index: EngineIndex,
        _ space: EntrySpace,
        _ box: GeoIndexBox,
        below ancestor: [UInt8]?,
        outside excluded: [GeoIndexBox],
        _ pathPrefix: [UInt8]
    ) {
        self.index = index
        self.space = space
        self.box = box
        self.ancestor = ancestor
        self.excluded = excluded
        self.pathPrefix = pathPrefix
        ranges = GeoCell.ranges(of: box)
    }

    func next() throws(StatusError) -> [UInt8]? {
        index.lookahead = self
        while names.isEmpty, !isEnd {
            try index.checkCancellation()
            let rows = try space.cells(in: ranges, after: last, limit: limit, in: index.rows)
            isEnd = rows.count < limit
            last = rows.last.map { ($0.cell.key, $0.stored) }
            limit = min(4 * limit, Self.maximumLimit)
            names =
                rows.filter { row in
                    let point = row.cell.box
                    return point.overlaps(box) && !excluded.contains { $0.overlaps(point) }
                        && ancestor.map { row.name.starts(with: $0) } ?? true
                }.map(\.name)[...]
        }
        return names.popFirst()
    }

    func nextKeys(_ count: Int) -> [[UInt8]] { names.prefix(count).map { pathPrefix + $0 } }
}
