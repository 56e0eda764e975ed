package import DocumentModel
internal import DocumentStore

extension PointInTimeView {
    /// The maximum number of documents that a query reads from the journal.
    private static let maximumChanges = 100_000

    /// Returns the first change after the time to each document of a source.
    ///
    /// - Throws: `.resourceExhausted` when there are too many changed documents.
    package func firstChanges(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath: FirstChange] {
        var changes: [DocumentPath: FirstChange] = [:]
        try forEachCommit { segment, range in
            if case .collection(let collection) = source {
                segment.records(changing: collection, in: range)
            } else {
                Array(range)
            }
        } _: { commit, segment, record throws(StatusError) in
            for change in commit.changes where source.contains(change.path) && changes[change.path] == nil {
                changes[change.path] = FirstChange(segment: segment, record: record, existed: change.existedBefore)
            }
            guard changes.count <= Self.maximumChanges else {
                throw StatusError(
                    .resourceExhausted,
                    "More than \(Self.maximumChanges) documents in the query's scope have been written since the read time. Use a later "
                        + "read time."
                )
            }
        }
        return changes
    }
}
