internal import DocumentModel

/// The skipping of a query's first matches, up to its offset, in the index, without reading their documents.
struct OffsetSkipping {
    /// The number of documents to skip.
    private var count: Int
    /// The names of the documents that are known to be unreadable. They are read, so that they are reported and not counted.
    private let unreadable: Set<[UInt8]>

    /// - Parameter isExact: Whether all documents that the scan finds match the query, in its order.
    init(_ isExact: Bool, _ execution: QueryExecution) throws(StatusError) {
        guard isExact, execution.query.offset > 0, execution.changed.isEmpty else {
            (count, unreadable) = (0, [])
            return
        }
        count = execution.query.offset
        unreadable = Set(try execution.unreadablePaths().map { execution.index.names.name(of: $0) })
    }

    /// The plan line of the skipping; empty if there is none.
    var planText: [String] { count == 0 ? [] : ["Skip \(count) documents in the index"] }

    /// Returns whether to skip the next document.
    mutating func skips(_ name: [UInt8]) -> Bool {
        guard count > 0, unreadable.isEmpty || !unreadable.contains(name) else { return false }
        count -= 1
        return true
    }

    /// Ends the skipping, because the order of the next documents is not that of the index.
    mutating func end() {
        count = 0
    }
}
