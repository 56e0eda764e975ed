internal import DocumentModel

extension HistoryView {
    /// What the documents of a collection were, of those that have been changed since.
    ///
    /// - Parameters:
    ///   - page: The documents that are there now; of these, all that were changed are given, nil where there was none.
    ///   - bounds: Of the others, those with IDs between these are given: behind the first and up to the second.
    ///   - limit: How many of the others are needed at most: the first ones.
    func images(
        in collection: CollectionPath,
        page: Set<DocumentID>,
        bounds: (after: DocumentID?, through: DocumentID?),
        limit: Int
    ) throws(StatusError) -> [DocumentID: EncodedDocument?] {
        var changed: [DocumentID: Place] = [:]
        var others: [DocumentID: Place] = [:]
        // Hashes, because there may be very many that did not exist and are of no concern.
        var seen: Set<Int> = []
        try forEachCommit { part, range in
            part.frames(changing: collection, in: range)
        } _: { commit, part, frame in
            for change in commit.changes where change.path.collection == collection {
                let id = change.path.id
                if let after = bounds.after, id <= after { continue }
                if let through = bounds.through, id > through { continue }
                guard seen.insert(id.hashValue).inserted else { continue }
                let place = Place(part: part, frame: frame, existed: change.existedBefore)
                if page.contains(id) {
                    changed[id] = place
                } else if place.existed {
                    others[id] = place
                    if others.count > 2 * limit + 64 { others = Self.first(limit, of: others) }
                }
            }
        }
        changed.merge(Self.first(limit, of: others)) { place, _ in place }
        let paths = Dictionary(uniqueKeysWithValues: changed.map { (collection.document($0.key), $0.value) })
        let images = try images(of: paths)
        return Dictionary(uniqueKeysWithValues: images.map { ($0.key.id, $0.value) })
    }

    private static func first(_ limit: Int, of places: [DocumentID: Place]) -> [DocumentID: Place] {
        guard places.count > limit else { return places }
        return Dictionary(uniqueKeysWithValues: places.sorted { $0.key < $1.key }.prefix(limit).map { ($0.key, $0.value) })
    }
}
