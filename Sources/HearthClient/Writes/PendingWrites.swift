internal import DocumentModel

/// Writes that are collected to be carried out together, or why there can't be any.
struct PendingWrites: Sendable {
    private var writes: [Write] = []
    private var failure: StatusError?

    var isEmpty: Bool { writes.isEmpty && failure == nil }

    /// Adds a write. The first one that can't be made keeps all from being carried out.
    mutating func add(_ write: () throws(StatusError) -> Write) {
        do {
            writes.append(try write())
        } catch {
            if failure == nil { failure = error.ofWrite(at: writes.count) }
        }
    }

    func get() throws(StatusError) -> [Write] {
        if let failure { throw failure }
        return writes
    }
}
