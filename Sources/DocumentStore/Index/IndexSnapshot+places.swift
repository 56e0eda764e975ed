internal import DocumentModel
internal import GRDB

extension IndexSnapshot {
    /// Gives the names of the documents with a geo point in any of some boxes, each once; some may be right beside them, by a
    /// ten-millionth of a degree.
    ///
    /// - Parameters:
    ///   - known: Boxes whose documents are not wanted.
    ///   - body: Called with each name, in no order, until it returns false.
    func forEachPlace(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [IndexPlace],
        outside known: [IndexPlace] = [],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try failing { () throws in
            let below = target.parent.map { NameKey($0).bytes }
            for space in try spaces(of: target, .values(of: field)) {
                var known = known
                for box in boxes {
                    guard try forEachPlace(space, below: below, in: box, outside: known, body) else { return }
                    known.append(box)
                }
            }
        }
    }

    /// Gives the names in a space; false when `body` has had enough.
    private func forEachPlace(
        _ space: Space,
        below: [UInt8]?,
        in box: IndexPlace,
        outside known: [IndexPlace],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws -> Bool {
        let number = try Int64.fetchOne(database, sql: "SELECT id FROM placeSpaces WHERE space = ?", arguments: [space.number])
        guard let number else { return true }
        let statement = try IndexStatement(
            """
            SELECT name, minLatitude, maxLatitude, minLongitude, maxLongitude FROM places WHERE minSpace >= ?1 AND maxSpace <= ?2
            AND maxLatitude >= ?3 AND minLatitude <= ?4 AND maxLongitude >= ?5 AND minLongitude <= ?6
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
        var name = space.scope.prefix
        while try statement.step() {
            let own = statement.bytes(0)
            if let below, !own.starts(with: below) { continue }
            if !known.isEmpty {
                let place = IndexPlace(
                    latitudes: Int32(statement.integer(1))...Int32(statement.integer(2)),
                    longitudes: Int32(statement.integer(3))...Int32(statement.integer(4))
                )
                if known.contains(where: { $0.overlaps(place) }) { continue }
            }
            name.removeSubrange(space.scope.prefix.count...)
            name.append(contentsOf: own)
            guard try name.withUnsafeBytes({ name throws(StatusError) in try body(name) }) else { return false }
        }
        return true
    }
}
