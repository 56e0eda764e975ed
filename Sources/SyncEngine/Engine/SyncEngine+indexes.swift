package import DocumentModel

extension SyncEngine {
    /// True if a query that reads many more documents than its result has gets an index.
    ///
    /// Indexes that exist are used in any case. Only a persistent cache has them.
    package var createsIndexes: Bool {
        get { store.createsIndexes }
        set { store.createsIndexes = newValue }
    }

    /// True if indexes lack entries, or removed ones have some, so that ``fillIndexes(maximumCount:)`` has something to do.
    package var hasIncompleteIndexes: Bool { store.hasIncompleteIndexes }

    /// Adds the entries of some documents to an incomplete index, or deletes some of a removed one, in a transaction of its own.
    ///
    /// - Parameter maximumCount: The maximum number of documents.
    package mutating func fillIndexes(maximumCount: Int = 100) throws(StatusError) {
        try store.fillIndexes(maximumCount: maximumCount)
    }

    /// Removes all indexes, whose entries ``fillIndexes(maximumCount:)`` deletes.
    package mutating func removeIndexes() throws(StatusError) {
        try store.removeIndexes()
    }
}
