package import DocumentModel

extension SyncEngine {
    /// Queues the writes of one call. They show at once, and are sent in order.
    ///
    /// - Parameters:
    ///   - id: The write to complete with the server's answer; `nil` if nobody waits for it.
    ///   - localTime: The time of the call, the estimate of pending server timestamps.
    /// - Throws: ``StatusCode/resourceExhausted`` if the queue is full, ``StatusCode/invalidArgument`` if the server could only reject
    ///   the writes, or the error of the cache. Nothing is queued then.
    package mutating func write(_ writes: [Write], _ id: WriteID?, at localTime: Timestamp) throws(StatusError) -> [SyncEffect] {
        let (batch, documents) = try store.queue(writes, at: localTime, queueLimits)
        if let id { completions[store.user, default: [:]][batch.number] = id }
        refreshViews(documents)
        attemptToFillPipeline()
        return takeEffects()
    }

    /// Queues the writes of a rejected batch of the user again, after those that are queued now, and forgets it. Nothing happens if it
    /// has been forgotten, so that a batch is queued again once.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` if the queue is full, or the error of the cache. The batch is kept then.
    package mutating func resendRejectedBatch(_ number: BatchNumber, at localTime: Timestamp) throws(StatusError) -> [SyncEffect]
    {
        guard let (_, documents) = try store.requeue(number, at: localTime, queueLimits) else { return [] }
        refreshViews(documents)
        attemptToFillPipeline()
        return takeEffects()
    }

    /// Processes the server's answer to a batch: it is committed.
    ///
    /// The view of a document does not change before a stream has delivered it, apart from the write being complete.
    ///
    /// - Throws: The error of the cache, or ``StatusCode/failedPrecondition`` if the answer to an earlier batch has not been processed.
    package mutating func batchAcknowledged(
        _ number: BatchNumber,
        _ result: BatchResult,
        epoch: String? = nil
    ) throws(StatusError) -> [SyncEffect] {
        let documents = try store.acknowledge(number, result, epoch: epoch)
        finish(number, nil, nil, documents)
        return takeEffects()
    }

    /// Processes the server's refusal of a batch for good. Batches that build on it stay.
    ///
    /// A server remembers refusals only as long as it runs. So that it never answers that it does not know the client, an identity under
    /// which nothing was committed is replaced, if no other batch of it can have been made.
    ///
    /// - Throws: The error of the cache, or ``StatusCode/failedPrecondition`` if the answer to an earlier batch has not been processed.
    package mutating func batchRejected(_ number: BatchNumber, _ error: StatusError) throws(StatusError) -> [SyncEffect] {
        let (rejected, isIdentityRenewed, documents) = try store.reject(
            number,
            error,
            lastSent: pipeline.lastSentIfOthersUnmade(number)
        )
        if isIdentityRenewed {
            pipeline.remove(number)
            if pipeline.reset() { effects.append(.stopSending) }
        }
        finish(number, error, rejected, documents)
        return takeEffects()
    }

    /// Forgets that somebody waits for the answer to a write. If it is rejected, the application is told as of one that nobody waits for.
    package mutating func abandonWrite(_ id: WriteID) {
        for user in completions.keys { completions[user] = completions[user]?.filter { $0.value != id } }
    }

    /// Processes the server's answer that it knows nothing of the commits of the queue any more, so that it has made no batch now.
    ///
    /// The batches get a new identity and are sent again. Those that were sent before this attempt are rejected: the server may have
    /// made them then, and to send them under a new identity could make them twice.
    ///
    /// - Throws: The error of the cache. Then some batches may be rejected already, and the others keep their identity.
    package mutating func identityForgotten() throws(StatusError) -> [SyncEffect] {
        for number in pipeline.doubtfulNumbers {
            let error = StatusError(
                .unknown,
                "The server no longer knows whether it has made these writes, which were sent before. Read the documents to find out."
            )
            effects += try batchRejected(number, error)
        }
        return try identityReused()
    }

    /// Processes the server's answer that other batches have the numbers of those that were sent, so that it has not made these.
    ///
    /// The batches get a new identity and are sent again. Numbers are used twice if the queue was set back to an earlier state, for
    /// example by a backup of the device.
    package mutating func identityReused() throws(StatusError) -> [SyncEffect] {
        try store.renewIdentity()
        if pipeline.reset() { effects.append(.stopSending) }
        attemptToFillPipeline()
        return takeEffects()
    }

    private mutating func finish(
        _ number: BatchNumber,
        _ error: StatusError?,
        _ rejected: RejectedBatch?,
        _ documents: LocalStore<Cache>.LocalDocuments
    ) {
        pipeline.remove(number)
        if let id = completions[store.user]?.removeValue(forKey: number) {
            effects.append(.complete(id, error, rejected))
        } else if let rejected {
            effects.append(.reportRejection(rejected))
        }
        for id in waits.removeValue(forKey: number) ?? [] { effects.append(.endWait(id, nil)) }
        refreshViews(documents, isWithdrawal: error != nil)
        attemptToFillPipeline()
    }

    /// Records that the last attempt to send some batches has not made them: the server has said so, or they were not sent.
    package mutating func recordUnmade(_ numbers: [BatchNumber]) {
        pipeline.recordUnmade(numbers)
    }

    /// Sends all batches again that have no answer, after a break of the connection and the pause that follows it.
    package mutating func resendBatches() throws(StatusError) -> [SyncEffect] {
        var emptied = pipeline
        let abandons = emptied.reset()
        let position = effects.count
        try fill(emptied)
        if abandons { effects.insert(.stopSending, at: position) }
        return takeEffects()
    }

    /// Waits for the answers to all batches that are queued now.
    package mutating func waitForPendingWrites(_ id: WaitID) throws(StatusError) -> [SyncEffect] {
        let state = try store.queueState()
        guard !state.isEmpty else { return [.endWait(id, nil)] }
        waits[state.lastNumber, default: []].append(id)
        return []
    }

    /// Returns the state of the user's queue.
    package mutating func queueState() throws(StatusError) -> QueueState {
        try store.queueState()
    }

    /// Returns the local time of the oldest batch in the user's queue; `nil` if it is empty.
    package mutating func oldestLocalTime() throws(StatusError) -> Timestamp? {
        try store.firstBatch()?.localTime
    }

    /// Makes the queue durable: a power cut loses nothing that was queued before.
    package mutating func synchronizeQueue() throws(StatusError) {
        try store.synchronize()
    }

    /// Returns the user's rejected batches that the application has not seen.
    package mutating func rejectedBatches() throws(StatusError) -> [RejectedBatch] {
        try store.rejectedBatches()
    }

    /// Forgets a rejected batch of a user, which the application has seen.
    package mutating func removeRejectedBatch(_ number: BatchNumber, of user: UserID) throws(StatusError) {
        try store.removeRejectedBatch(number, of: user)
    }

    /// The number of batches that were sent and not answered yet.
    package var batchesInFlight: Int { pipeline.numbers.count }

    /// Sends the batches for which the pipeline has room or, if the cache fails, later.
    mutating func attemptToFillPipeline() {
        do throws(StatusError) {
            try fillPipeline()
        } catch {
            effects += [.reportCacheError(error), .resendBatchesLater]
        }
    }

    mutating func fillPipeline() throws(StatusError) {
        try fill(pipeline)
    }

    /// Makes a pipeline the current one, and sends the batches for which it has room: all of them or, with an error, none.
    private mutating func fill(_ pipeline: WritePipeline) throws(StatusError) {
        var pipeline = pipeline
        guard connection.isEnabled, pipeline.room > 0 else {
            self.pipeline = pipeline
            return
        }
        let (batches, state) = try store.batchesToSend(after: pipeline.lastSent, maximumCount: pipeline.room)
        for batch in batches {
            pipeline.append(batch.number, isFirstAttempt: batch.number > state.sentNumber)
            let identity = BatchIdentity(batch.number, in: state.identity, decided: state.decidedNumber)
            effects.append(.send(batch, as: identity))
        }
        self.pipeline = pipeline
    }

    /// Makes another user the current one. The writes of the previous one wait until that user is back.
    package mutating func changeUser(to user: UserID) throws(StatusError) -> [SyncEffect] {
        guard user != store.user else { return [] }
        // The writes of the previous user are shown before.
        completeRefills()
        let documents = try store.changeUser(to: user)
        if pipeline.reset() { effects.append(.stopSending) }
        pipeline.forgetUser()
        if connection.isEnabled { updateConnection { $0.reset(to: .unknown) } }
        for id in waits.values.joined().sorted() {
            effects.append(.endWait(id, StatusError(.cancelled, "Another user has signed in, so the wait for writes ends.")))
        }
        waits = [:]
        let unanswered = limbo.unanswered
        refreshViews(documents, isWithdrawal: true)
        if connection.isEnabled {
            reopenTargets()
            // Answers for the previous user are none for this one.
            let repeated = unanswered.filter { limbo.activePaths.contains($0) }
            if !repeated.isEmpty { effects.append(.readDocuments(repeated)) }
        }
        attemptToFillPipeline()
        return takeEffects()
    }
}
