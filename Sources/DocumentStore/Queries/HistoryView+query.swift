internal import DocumentModel

extension HistoryView {
    /// How many documents a query may have to take from the journal.
    private static let maximumPlaces = 100_000

    /// The first changes after the time of the documents of a source.
    ///
    /// - Throws: `.resourceExhausted` when there are too many.
    func places(in source: Query.Source) throws(StatusError) -> [DocumentPath: Place] {
        var places: [DocumentPath: Place] = [:]
        try forEachCommit { part, range in
            if case .collection(let collection) = source { part.frames(changing: collection, in: range) } else { Array(range) }
        } _: { commit, part, frame throws(StatusError) in
            for change in commit.changes where source.contains(change.path) && places[change.path] == nil {
                places[change.path] = Place(part: part, frame: frame, existed: change.existedBefore)
            }
            guard places.count <= Self.maximumPlaces else {
                throw StatusError(
                    .resourceExhausted,
                    "More than \(Self.maximumPlaces) documents that the query asks for were written since the read time, too many to tell "
                        + "what was there. Give a later time."
                )
            }
        }
        return places
    }
}
