package import DocumentModel
internal import GRDB
package import QueryEngine

extension IndexSnapshot {
    /// Calls `body` once with the name of each document that has a geo point in one of several boxes, in no defined order, until it
    /// returns `false`. Some points may be outside a box, by at most 1e-7 degrees.
    ///
    /// - Parameter excluded: Boxes whose documents are skipped.
    package func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try withStatusErrors { () throws in
            let ancestor = target.parent.map { NameKey($0).bytes }
            for space in try spaces(of: target, .values(of: field)) {
                var excluded = excluded
                for box in boxes {
                    guard try forEachGeoPoint(space, below: ancestor, in: box, outside: excluded, body) else { return }
                    excluded.append(box)
                }
            }
        }
    }

    /// Returns `false` if `body` has stopped the iteration.
    private func forEachGeoPoint(
        _ space: Space,
        below ancestor: [UInt8]?,
        in box: GeoIndexBox,
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws -> Bool {
        let id = try Int64.fetchOne(database, sql: "SELECT id FROM placeSpaces WHERE space = ?", arguments: [space.id])
        guard let id else { return true }
        let statement = try IndexStatement(
            """
            SELECT name, minLatitude, maxLatitude, minLongitude, maxLongitude FROM places WHERE minSpace >= ?1 AND maxSpace <= ?2
            AND maxLatitude >= ?3 AND minLatitude <= ?4 AND maxLongitude >= ?5 AND minLongitude <= ?6
            """,
            database
        )
        defer { statement.reset() }
        let spaceRange = GeoIndexBox.spaceRange(id)
        let bounds = [
            spaceRange.lower, spaceRange.upper, Int64(box.latitudes.lowerBound), Int64(box.latitudes.upperBound),
            Int64(box.longitudes.lowerBound), Int64(box.longitudes.upperBound),
        ]
        for (index, bound) in bounds.enumerated() { statement.bind(bound, at: Int32(index + 1)) }
        var name = space.scope.prefix
        while try statement.step() {
            let suffix = statement.bytes(0)
            if let ancestor, !suffix.starts(with: ancestor) { continue }
            if !excluded.isEmpty {
                let found = GeoIndexBox(
                    latitudes: Int32(statement.integer(1))...Int32(statement.integer(2)),
                    longitudes: Int32(statement.integer(3))...Int32(statement.integer(4))
                )
                if excluded.contains(where: { $0.overlaps(found) }) { continue }
            }
            name.removeSubrange(space.scope.prefix.count...)
            name.append(contentsOf: suffix)
            guard try name.withUnsafeBytes({ name throws(StatusError) in try body(name) }) else { return false }
        }
        return true
    }
}
