internal import DocumentModel

/// The writes of a batch or transaction, or the error that makes it invalid.
struct PendingWrites: Sendable {
    private var writes: [Write] = []
    private var failure: StatusError?

    var isEmpty: Bool { writes.isEmpty && failure == nil }

    /// Adds a write. The first invalid write makes `get()` throw its error.
    mutating func add(_ write: () throws(StatusError) -> Write) {
        do {
            writes.append(try write())
        } catch {
            if failure == nil { failure = error.withWriteIndex(writes.count) }
        }
    }

    func get() throws(StatusError) -> [Write] {
        if let failure { throw failure }
        return writes
    }
}
