internal import DocumentModel
internal import GRDB

extension IndexWriter {
    /// Geo points are few, so those of a document are replaced as a whole when one changes.
    ///
    /// - Parameter isForced: Whether it is not known which of the old ones there are.
    func replacePlaces(
        _ old: IndexEntries,
        with new: IndexEntries,
        _ content: Int64,
        _ names: Names,
        isForced: Bool = false
    ) throws {
        let (before, after) = (old.places, new.places)
        guard !before.isEmpty || !after.isEmpty else { return }
        guard isForced || !before.elementsEqual(after, by: { $0.slot == $1.slot && $0.point == $1.point }) else { return }
        let removal = try IndexStatement("DELETE FROM places WHERE id = ?1", database)
        for index in 0..<Int64(before.count * names.searched.count) {
            removal.bind(content * 2 * IndexPlace.maximumCount + index, at: 1)
            try removal.run()
        }
        let insertion = try IndexStatement("INSERT INTO places VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", database)
        var index: Int64 = 0
        for place in after {
            let box = IndexPlace(place.point)
            for (scope, name) in names.searched {
                let space = IndexPlace.spaces(try placeSpace(IndexSpace(scope: scope, slot: place.slot)))
                insertion.bind(content * 2 * IndexPlace.maximumCount + index, at: 1)
                insertion.bind(space.lower, at: 2)
                insertion.bind(space.upper, at: 3)
                insertion.bind(Int64(box.latitudes.lowerBound), at: 4)
                insertion.bind(Int64(box.latitudes.upperBound), at: 5)
                insertion.bind(Int64(box.longitudes.lowerBound), at: 6)
                insertion.bind(Int64(box.longitudes.upperBound), at: 7)
                insertion.bind(name, at: 8)
                try insertion.run()
                index += 1
            }
        }
    }

    private func placeSpace(_ space: IndexSpace) throws -> Int64 {
        let selection = try IndexStatement("SELECT id FROM placeSpaces WHERE space = ?1", database)
        defer { selection.reset() }
        selection.bind(space.number, at: 1)
        if try selection.step() { return selection.integer(0) }
        let insertion = try IndexStatement("INSERT INTO placeSpaces (space) VALUES (?1)", database)
        insertion.bind(space.number, at: 1)
        try insertion.run()
        return database.lastInsertedRowID
    }
}

extension IndexEntries {
    /// The fields that are geo points.
    fileprivate var places: [(slot: Int64, point: GeoPoint)] {
        entries.compactMap { entry in
            guard bytes[entry.value.lowerBound] == ValueBracket.geoPoint.firstByte,
                entry.slot & 1 == IndexSpace.Kind.value.rawValue
            else { return nil }
            return GeoPoint(valueKey: bytes[entry.value]).map { (entry.slot, $0) }
        }
    }
}
