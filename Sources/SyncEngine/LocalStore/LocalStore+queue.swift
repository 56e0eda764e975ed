internal import DocumentModel

extension LocalStore {
    /// Queues writes, and lays them over the documents.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if the queue is full, ``StatusCode/invalidArgument`` if a write is invalid or makes
    ///   a known document too large, so that the server could only reject it.
    mutating func queue(
        _ writes: [Write],
        at localTime: Timestamp,
        _ limits: QueueLimits
    ) throws(StatusError) -> (batch: MutationBatch, documents: LocalDocuments) {
        let user = user
        try FieldTransform.validateCounts(in: writes)
        for transform in writes.lazy.flatMap(\.transforms) { try transform.validateOperand() }
        return try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.queue(writes, at: localTime, limits, for: user)
        }
    }

    /// Queues the writes of a rejected batch again, and forgets it; `nil` if it has been forgotten.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if the queue is full.
    mutating func requeue(
        _ number: BatchNumber,
        at localTime: Timestamp,
        _ limits: QueueLimits
    ) throws(StatusError) -> (batch: MutationBatch, documents: LocalDocuments)? {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in
            let rejected = try cache.rejectedBatches(for: user).first { $0.number == number }
            guard let rejected else { return nil }
            try cache.removeRejectedBatch(number, for: user)
            return try cache.queue(rejected.writes, at: localTime, limits, for: user)
        }
    }

    /// Removes an acknowledged batch from the queue, and stores its outcome unless a stream has brought a later one.
    mutating func acknowledge(
        _ number: BatchNumber,
        _ result: BatchResult,
        epoch: String?
    ) throws(StatusError) -> LocalDocuments {
        let user = user
        var epochs = epochs
        epochs.record(epoch)
        // Otherwise a stream that began before the write would bring the document's earlier version back.
        let epoch = epoch ?? epochs.current
        let documents = try transaction { [epochs] (cache: inout Cache) throws(StatusError) -> LocalDocuments in
            guard let batch = try cache.answeredBatch(number, for: user) else { return [:] }
            let cached = try cache.documents(at: batch.paths)
            let outcomes = batch.paths.compactMap { path in
                batch.outcome(result, at: path, on: cached[path], epoch: epoch)
            }
            try cache.save(outcomes.filter { $0.isNewer(than: cached[$0.path], in: epochs) })
            return try cache.remove(batch, for: user, isAcknowledged: true)
        }
        self.epochs = epochs
        recordChanges(of: documents.keys)
        suggestEviction(of: documents.keys)
        return documents
    }

    /// Removes a rejected batch from the queue, and keeps it until the application has been told. Later batches stay, even if they build on
    /// it.
    ///
    /// If it is the first one under the identity of the queue, the others get a new one.
    ///
    /// - Parameter lastSent: The last number that was sent if no other batch can have been made; otherwise `nil`.
    /// - Returns: The rejected batch, `nil` if the answer has been processed before; whether the identity is a new one; and the documents.
    mutating func reject(
        _ number: BatchNumber,
        _ error: StatusError,
        lastSent: BatchNumber?
    ) throws(StatusError) -> (rejected: RejectedBatch?, isIdentityRenewed: Bool, documents: LocalDocuments) {
        let user = user
        let result = try transaction {
            (
                cache: inout Cache
            ) throws(StatusError) -> (rejected: RejectedBatch?, isIdentityRenewed: Bool, documents: LocalDocuments) in
            guard let batch = try cache.answeredBatch(number, for: user) else { return (nil, false, [:]) }
            let rejected = RejectedBatch(batch, error)
            try cache.append(rejected, for: user)
            let documents = try cache.remove(batch, for: user, isAcknowledged: false)
            let state = try cache.queueState(for: user)
            guard let lastSent, state.sentNumber <= lastSent, state.identity.precedingNumber == number - 1 else {
                return (rejected, false, documents)
            }
            try cache.save(QueueIdentity(after: number), for: user)
            return (rejected, true, documents)
        }
        suggestEviction(of: result.documents.keys)
        return result
    }

    /// Returns the first batches after a number, with the state of the queue before they were recorded as sent.
    mutating func batchesToSend(
        after number: BatchNumber,
        maximumCount: Int
    ) throws(StatusError) -> (batches: [MutationBatch], state: QueueState) {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in
            var batches: [MutationBatch] = []
            while batches.count < maximumCount, let batch = try cache.batch(after: batches.last?.number ?? number, for: user) {
                batches.append(batch)
            }
            let state = try cache.queueState(for: user)
            if let last = batches.last, last.number > state.sentNumber { try cache.recordSent(through: last.number, for: user) }
            return (batches, state)
        }
    }

    /// Returns the first batch of the queue.
    mutating func firstBatch() throws(StatusError) -> MutationBatch? {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in try cache.batch(after: 0, for: user) }
    }

    /// Gives the batches of the queue a new identity.
    mutating func renewIdentity() throws(StatusError) {
        let user = user
        try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.save(QueueIdentity(after: cache.queueState(for: user).decidedNumber), for: user)
        }
    }

    /// Returns the rejected batches that the application has not seen.
    mutating func rejectedBatches() throws(StatusError) -> [RejectedBatch] {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in try cache.rejectedBatches(for: user) }
    }

    /// Forgets a rejected batch, which the application has seen.
    mutating func removeRejectedBatch(_ number: BatchNumber, of user: UserID) throws(StatusError) {
        try transaction { (cache: inout Cache) throws(StatusError) in try cache.removeRejectedBatch(number, for: user) }
    }

    /// Returns the state of the queue.
    mutating func queueState() throws(StatusError) -> QueueState {
        let user = user
        return try transaction { (cache: inout Cache) throws(StatusError) in try cache.queueState(for: user) }
    }
}

extension LocalCache {
    /// Queues valid writes, and lays them over the documents.
    fileprivate mutating func queue(
        _ writes: [Write],
        at localTime: Timestamp,
        _ limits: QueueLimits,
        for user: UserID
    ) throws(StatusError) -> (batch: MutationBatch, documents: [DocumentPath: LocalDocument?]) {
        try queueState(for: user).checkCapacity(for: MutationBatch.byteCount(of: writes), limits)
        let paths = Set(writes.map(\.path))
        let remote = try documents(at: paths)
        let overlays = try overlays(at: paths, for: user)
        var overlaid: [DocumentPath: OverlaidDocument] = [:]
        for path in paths {
            var document = OverlaidDocument(remote[path], at: path)
            if let overlay = overlays[path] { document.apply(overlay) }
            overlaid[path] = document
        }
        let baseValues = MutationBatch.baseValues(of: writes, overlaid)
        let effect = MutationBatch(number: 0, localTime: localTime, writes: writes, baseValues: baseValues)
        var results: [DocumentPath: LocalDocument?] = [:]
        for path in paths {
            overlaid[path]?.apply(effect)
            let document = overlaid[path]?.document
            if let document { try Document.validate(document.fields, at: path) }
            results.updateValue(document, forKey: path)
        }
        let batch = try appendBatch(writes, baseValues: baseValues, at: localTime, for: user)
        try save(overlaid.values.compactMap { $0.overlay(through: batch.number) }, for: user)
        return (batch, results)
    }

    /// Returns the batch of an answer; `nil` if the answer has been processed before.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if the answer to an earlier batch has not been processed.
    fileprivate func answeredBatch(_ number: BatchNumber, for user: UserID) throws(StatusError) -> MutationBatch? {
        guard let first = try batch(after: 0, for: user), first.number <= number else { return nil }
        guard first.number == number else {
            throw StatusError(
                .failedPrecondition,
                "The answer to batch \(first.number) must be processed before that to batch \(number). Process it first."
            )
        }
        return first
    }

    /// Removes a batch, and computes the overlays of its documents from the batches that are left.
    ///
    /// An overlay of many batches stays as it is if the batch had the effect that it assumes. It then goes on to hide what
    /// others write to the fields of the batch, until fewer are left.
    ///
    /// - Returns: The documents with the new overlays.
    fileprivate mutating func remove(
        _ batch: MutationBatch,
        for user: UserID,
        isAcknowledged: Bool
    ) throws(StatusError) -> [DocumentPath: LocalDocument?] {
        try removeBatch(batch.number, for: user)
        try touch(batch.paths, use: nextUse())
        let overlays = try overlays(at: batch.paths, for: user)
        var (finished, kept) = (Set<DocumentPath>(), Set<DocumentPath>())
        for (path, overlay) in overlays {
            if overlay.batch == batch.number {
                finished.insert(path)
            } else if isAcknowledged, overlay.batch > batch.number + Self.maximumRecomputedBatches, batch.hasForeseeableEffect {
                kept.insert(path)
            }
        }
        try removeOverlays(at: finished, for: user)
        return try localDocuments(at: finished.union(kept), for: user)
            .merging(recomputeOverlays(at: batch.paths.subtracting(finished).subtracting(kept), for: user)) { $1 }
    }

    /// The number of batches from which an overlay is computed after each acknowledgement.
    private static var maximumRecomputedBatches: BatchNumber { 16 }
}

extension MutationBatch {
    /// Returns the values that the increments of writes start from.
    fileprivate static func baseValues(of writes: [Write], _ documents: [DocumentPath: OverlaidDocument]) -> [BaseValue] {
        var values: [BaseValue] = []
        for write in writes {
            for transform in write.transforms {
                guard case .increment = transform.operation, let document = documents[write.path] else { continue }
                values.append(BaseValue(path: write.path, field: transform.field, value: document.number(at: transform.field)))
            }
        }
        return values
    }

    /// True if the effect of the batch on an overlay does not depend on what the server has. An increment starts from its base value.
    fileprivate var hasForeseeableEffect: Bool {
        writes.allSatisfy { write in
            write.transforms.allSatisfy { transform in
                if case .increment = transform.operation { true } else { false }
            }
        }
    }
}
