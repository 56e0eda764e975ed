package import DocumentModel
internal import GRDB
package import SyncEngine

extension PersistentCache {
    /// Returns the state of a user's queue. A new queue gets an identity.
    package mutating func queueState(for user: UserID) throws(StatusError) -> QueueState {
        if let state = try queue.read({ try $0.queueState(for: user) }) { return state }
        let state = QueueState()
        try write(to: queue) { try $0.save(state, for: user) }
        return state
    }

    /// Appends a batch to a user's queue, with the next number.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the writes are beyond all limits, so that they could not be read again.
    package mutating func appendBatch(
        _ writes: [Write],
        baseValues: [MutationBatch.BaseValue],
        at localTime: Timestamp,
        for user: UserID
    ) throws(StatusError) -> MutationBatch {
        let writesJSON = try StoredJSON.encode(verified: writes)
        var state = try queueState(for: user)
        state.lastNumber += 1
        let batch = MutationBatch(number: state.lastNumber, localTime: localTime, writes: writes, baseValues: baseValues)
        state.byteCount += batch.byteCount
        try write(to: queue) { database in
            try database.insert(batch, writesJSON, for: user)
            try database.save(state, for: user)
        }
        return batch
    }

    /// Returns the first batch after a number; `nil` if there is none.
    package func batch(after number: BatchNumber, for user: UserID) throws(StatusError) -> MutationBatch? {
        try queue.read { try $0.batch(after: number, for: user) }
    }

    /// Calls `visit` with the batches that write some of the documents, in order of their numbers.
    package func visitBatches(
        affecting paths: Set<DocumentPath>,
        for user: UserID,
        _ visit: (MutationBatch) throws(StatusError) -> Void
    ) throws(StatusError) {
        guard !paths.isEmpty else { return }
        try queue.read { database in
            let lookup = try CacheStatement("SELECT number FROM batch_document WHERE path = ? AND user = ?", database)
            lookup.bind(user.columnText, at: 2)
            var numbers: Set<BatchNumber> = []
            for path in paths {
                lookup.bind(path.string, at: 1)
                try lookup.forEachRow { numbers.insert(try $0.number(0)) }
            }
            for number in numbers.sorted() {
                guard let batch = try database.batch(number, for: user) else {
                    throw CacheDatabaseError(corruption: "a batch is missing")
                }
                try VisitorError.wrapping { () throws(StatusError) in try visit(batch) }
            }
        }
    }

    /// Returns the documents that a user's queued batches write.
    package func queuedPaths(for user: UserID) throws(StatusError) -> Set<DocumentPath> {
        try queue.read { database in
            let scan = try CacheStatement("SELECT path FROM batch_document WHERE user = ?", database)
            scan.bind(user.columnText, at: 1)
            var paths: Set<DocumentPath> = []
            try scan.forEachRow { paths.insert(try DocumentPath($0.text(0))) }
            return paths
        }
    }

    /// Returns those of the documents that a user's queued batches write.
    ///
    /// An empty queue costs one look-up, whatever the number of documents.
    package func queuedPaths(among paths: Set<DocumentPath>, for user: UserID) throws(StatusError) -> Set<DocumentPath> {
        guard !paths.isEmpty else { return [] }
        return try queue.read { database in
            guard try database.hasRows("batch", of: user) else { return [] }
            let lookup = try CacheStatement("SELECT 1 FROM batch_document WHERE path = ? AND user = ? LIMIT 1", database)
            lookup.bind(user.columnText, at: 2)
            return try paths.filter { path in
                lookup.bind(path.string, at: 1)
                return try lookup.firstRow { _ in true } != nil
            }
        }
    }

    /// Records that batches may have been sent, up to a number.
    package mutating func recordSent(through number: BatchNumber, for user: UserID) throws(StatusError) {
        try updateState(for: user) { $0.sentNumber = max($0.sentNumber, number) }
    }

    /// Replaces the identity of a user's queue.
    package mutating func save(_ identity: QueueIdentity, for user: UserID) throws(StatusError) {
        try updateState(for: user) { $0.identity = identity }
    }

    private mutating func updateState(for user: UserID, _ update: (inout QueueState) -> Void) throws(StatusError) {
        guard let state = try queue.read({ try $0.queueState(for: user) }) else { return }
        var updated = state
        update(&updated)
        guard updated != state else { return }
        try write(to: queue) { try $0.save(updated, for: user) }
    }

    /// Removes a batch whose answer has been processed, and records that it is decided.
    package mutating func removeBatch(_ number: BatchNumber, for user: UserID) throws(StatusError) {
        let found = try queue.read { try $0.batch(number, for: user) }
        guard let batch = found, var state = try queue.read({ try $0.queueState(for: user) }) else { return }
        markBatchRemoved()
        try write(to: queue) { database in
            try database.delete(batch, for: user)
            state.decidedNumber = max(state.decidedNumber, number)
            state.byteCount -= batch.byteCount
            try database.save(state, for: user)
        }
    }
}

// MARK: Rejected batches

extension PersistentCache {
    /// Adds a rejected batch to those that the application has not seen, and drops the oldest ones beyond the maximum.
    package mutating func append(_ rejected: RejectedBatch, for user: UserID) throws(StatusError) {
        try write(to: queue) { database in
            try database.insert(rejected, for: user)
            // They are counted only if there can be too many.
            let maximumCount = RejectedBatch.maximumCount
            let deletion = try CacheStatement(
                """
                DELETE FROM rejected WHERE user = ?1 AND id <= (
                    SELECT id FROM rejected WHERE user = ?1
                    AND (SELECT max(id) FROM rejected) - (SELECT min(id) FROM rejected) >= \(maximumCount)
                    ORDER BY id DESC LIMIT 1 OFFSET \(maximumCount)
                )
                """,
                database
            )
            deletion.bind(user.columnText, at: 1)
            try deletion.run()
        }
    }

    /// Returns the rejected batches that the application has not seen, in order of their numbers.
    package func rejectedBatches(for user: UserID) throws(StatusError) -> [RejectedBatch] {
        try queue.read { database in
            let scan = try CacheStatement(
                "SELECT \(RejectedBatch.columns) FROM rejected WHERE user = ? ORDER BY number, id",
                database
            )
            scan.bind(user.columnText, at: 1)
            var rejected: [RejectedBatch] = []
            try scan.forEachRow { rejected.append(try RejectedBatch($0, user: user)) }
            return rejected
        }
    }

    /// Removes a rejected batch, which the application has seen.
    package mutating func removeRejectedBatch(_ number: BatchNumber, for user: UserID) throws(StatusError) {
        try write(to: queue) { database in
            let deletion = try CacheStatement("DELETE FROM rejected WHERE user = ? AND number = ?", database)
            deletion.bind(user.columnText, at: 1)
            deletion.bind(number, at: 2)
            try deletion.run()
        }
    }
}
