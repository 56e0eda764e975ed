internal import DocumentModel
internal import GRDB
internal import QueryEngine

extension IndexWriter {
    /// Replaces the R*Tree entries of a document when a geo point changed. All are replaced, since a document has few.
    ///
    /// - Parameter isForced: Whether to replace them without a change, because it is unknown which entries exist.
    func replaceGeoPoints(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ contentID: Int64,
        _ names: Names,
        isForced: Bool = false
    ) throws {
        let (before, after) = (old.geoPoints, new.geoPoints)
        guard !before.isEmpty || !after.isEmpty else { return }
        guard isForced || !before.elementsEqual(after, by: { $0.slot == $1.slot && $0.point == $1.point }) else { return }
        let firstID = contentID * 2 * GeoIndexBox.maximumPointsPerDocument
        let delete = try IndexStatement("DELETE FROM places WHERE id = ?1", database)
        for index in 0..<Int64(before.count * names.indexed.count) {
            delete.bind(firstID + index, at: 1)
            try delete.run()
        }
        let insert = try IndexStatement("INSERT INTO places VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", database)
        var index: Int64 = 0
        for (slot, point) in after {
            let box = GeoIndexBox(point)
            for (scope, name) in names.indexed {
                let space = GeoIndexBox.spaceRange(try geoSpaceID(IndexSpace(scope: scope, slot: slot)))
                insert.bind(firstID + index, at: 1)
                insert.bind(space.lower, at: 2)
                insert.bind(space.upper, at: 3)
                insert.bind(Int64(box.latitudes.lowerBound), at: 4)
                insert.bind(Int64(box.latitudes.upperBound), at: 5)
                insert.bind(Int64(box.longitudes.lowerBound), at: 6)
                insert.bind(Int64(box.longitudes.upperBound), at: 7)
                try name.withUnsafeBytes { name in
                    insert.bind(unowned: name, at: 8)
                    try insert.run()
                }
                index += 1
            }
        }
    }

    private func geoSpaceID(_ space: IndexSpace) throws -> Int64 {
        let select = try IndexStatement("SELECT id FROM placeSpaces WHERE space = ?1", database)
        defer { select.reset() }
        select.bind(space.id, at: 1)
        if try select.step() { return select.integer(0) }
        let insert = try IndexStatement("INSERT INTO placeSpaces (space) VALUES (?1)", database)
        insert.bind(space.id, at: 1)
        try insert.run()
        return database.lastInsertedRowID
    }
}
