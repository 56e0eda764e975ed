internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO

/// Makes commits durable and visible, batch after batch (group commit).
///
/// The steps of a batch, and what happens if one fails:
///
/// 1. **Evaluate.** Each commit is evaluated on the results of the previous ones, and its reads are validated. A commit that fails (a
///    precondition, a changed read, a damaged document) fails alone.
/// 2. **Stage.** The documents are written to temporary files, and the files to be replaced or removed are checked. If that fails,
///    usually because the disk is full or a file is immutable, the commits are retried one by one, and those that fail are
///    rejected. Nothing has changed.
/// 3. **Append.** The records of all commits are appended to the journal and synced. When the disk is full, the commits are retried
///    one by one as in step 2. After any other failure the state on disk is unknown: the commits are rejected, and so are all
///    writes until the store is reopened.
/// 4. **Apply.** The temporary files are renamed into place, and the files of deleted documents are removed. The commits are durable
///    now, so they always succeed. When a file can't be changed, readers get its document from memory, and all writes are
///    rejected until the file has been changed. Each subsequent write tries again, and so does opening the store.
/// 5. **Publish.** The commits are queued for the index, which applies them asynchronously, and published to the change feed. The
///    callers are resumed. When the index lags too far behind, the next batch waits for it.
///
/// An actor on a queue of its own, since it mostly waits for the disk. A method that blocks holds the actor, which is intended:
/// batches follow each other.
actor Committer {
    private let components: StoreComponents
    private var writer: JournalWriter
    private var applier: DocumentApplier
    private var last: (sequence: SequenceNumber, time: Timestamp?)
    private var scopeVersions: ScopeVersions
    /// The journal bytes written since the last checkpoint.
    private var uncheckpointedBytes = 0
    private var isClosed = false

    private nonisolated let executor = SerialQueueExecutor(label: "hearth.committer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter last: The last commit, and the latest assigned commit time.
    init(
        _ components: StoreComponents,
        writer: consuming JournalWriter,
        fileWriter: consuming DocumentFileWriter,
        last: (sequence: SequenceNumber, time: Timestamp?)
    ) {
        self.components = components
        self.writer = writer
        applier = DocumentApplier(fileWriter, unapplied: components.unapplied, logger: components.logger)
        self.last = last
        scopeVersions = ScopeVersions(after: last.sequence)
    }

    /// Runs `work` on the committer, after the work before it; returns at once. The work is dropped with the committer.
    nonisolated func submit(after delay: Duration = .zero, _ work: @escaping @Sendable (isolated Committer) -> Void) {
        executor.submit(after: delay) { [weak self] in self?.assumeIsolated(work) }
    }

    /// Processes commits in order and resumes their callers.
    func process(_ commits: [PendingCommit]) {
        var rest = commits[...]
        while !rest.isEmpty { rest = rest.dropFirst(processBatch(rest)) }
        if uncheckpointedBytes >= components.checkpointBytes { startCheckpoint() }
    }

    /// The last commit, when it is after the last checkpoint; otherwise nil.
    var uncheckpointedSequence: SequenceNumber? {
        last.sequence > components.data.manifest.sequence ? last.sequence : nil
    }

    /// Starts a checkpoint in the background.
    func startCheckpoint() {
        // The journal of unapplied documents must be retained.
        guard components.writeLatch.error == nil, components.unapplied.blocking.isEmpty else { return }
        _ = applier.retryQuarantined()
        components.checkpointer.start(checkpoint)
        uncheckpointedBytes = 0
    }

    /// Closes the journal and the index, and makes the final checkpoint, after the last commit. Only the first call has an effect.
    ///
    /// - Returns: The error that kept the store from being closed cleanly; nil on success.
    func close() -> StatusError? {
        guard !isClosed else { return nil }
        isClosed = true
        writer.close()
        let isIndexDurable = components.index.close()
        if let error = components.permanentWriteBlockedReason ?? applier.retryUnapplied() {
            components.checkpointer.wait()
            return error
        }
        let quarantineError = applier.retryQuarantined()
        let checkpointError = components.checkpointer.finish(
            checkpoint,
            isIndexDurable: isIndexDurable,
            hasLeftoverTemporaryFile: applier.hasLeftoverTemporaryFile
        )
        return quarantineError ?? checkpointError
    }

    /// The state that a checkpoint makes durable.
    private var checkpoint: Checkpointer.Checkpoint {
        Checkpointer.Checkpoint(
            sequence: last.sequence,
            time: last.time,
            quarantined: components.unapplied.quarantined
        )
    }
}

extension Committer {
    /// Processes the first pending commits as one batch; returns their number.
    private func processBatch(_ pending: ArraySlice<PendingCommit>) -> Int {
        defer {
            applier.endBatch()
            components.timestamps.endBatch()
        }
        if let error = components.permanentWriteBlockedReason ?? applier.retryUnapplied() {
            for commit in pending { commit.resume(with: .failure(error)) }
            return pending.count
        }
        let batch = evaluate(pending)
        let commits = pending.prefix(batch.outcomes.count)
        guard !batch.commits.isEmpty else {
            // Commits without changes have used commit times too.
            last.time = batch.last.time
            resume(commits, batch)
            return commits.count
        }
        do throws(StatusError) {
            // In this order: an unclean store without a segment counts as one that lost its journal.
            try writer.prepare(first: last.sequence.next)
            try components.checkpointer.markUnclean(components.index)
        } catch {
            reject(commits, batch, error)
            return commits.count
        }
        let netChanges = batch.netChanges
        let staged: [DocumentFileWriter.StagedDocument]
        do throws(StatusError) {
            staged = try applier.stage(netChanges)
        } catch {
            return retry(commits, after: error)
        }
        let appended: JournalWriter.AppendedBatch
        do throws(JournalWriter.Failure) {
            appended = try writer.append(batch.commits)
        } catch {
            applier.discard(consume staged)
            if error.isRecoverable { return retry(commits, after: error.status) }
            reject(commits, batch, blockWrites(error.status))
            return commits.count
        }
        components.history.append(batch.commits, at: appended)
        components.feed.willApply(through: batch.last.sequence)
        applier.apply(netChanges, staged)
        last = batch.last
        for commit in batch.commits { scopeVersions.record(commit) }
        uncheckpointedBytes += appended.byteCount
        if let update = batch.indexUpdate { components.index.enqueue(update) }
        components.feed.publish(batch.commits)
        components.timestamps.endBatch()
        resume(commits, batch)
        components.index.applyBackpressure()
        return commits.count
    }

    private func evaluate(_ pending: ArraySlice<PendingCommit>) -> CommitBatch {
        var batch = CommitBatch(after: last, now: components.timestamps.nextCommitTime)
        let earlier = scopeVersions
        for commit in pending {
            guard batch.accepts(commit) else { break }
            do throws(StatusError) {
                for write in commit.writes { try applier.retryQuarantined(write.path) }
            } catch {
                batch.reject(commit, because: error)
                continue
            }
            batch.add(commit, earlier: earlier) { path throws(StatusError) in
                try applier.document(at: path, replacing: commit.reads.damagedFiles[path])
            }
        }
        return batch
    }

    /// Retries each commit of a batch in a batch of its own, after staging or appending failed without a change.
    private func retry(_ commits: ArraySlice<PendingCommit>, after error: StatusError) -> Int {
        if commits.count == 1 {
            for commit in commits { commit.resume(with: .failure(error)) }
        } else {
            // Folders created for staged files may have been removed with them.
            applier.endBatch()
            for index in commits.indices { _ = processBatch(commits[index...index]) }
        }
        return commits.count
    }

    /// Blocks writes after a failed append; returns the error for the commits of the batch.
    private func blockWrites(_ error: StatusError) -> StatusError {
        components.writeLatch.trip(error)
        components.logger.critical(
            "Journal write failed; writes are rejected until restart",
            metadata: ["error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
        )
        var unknown = error
        // Not the cause's own code, which might state that nothing has changed.
        unknown.code = .unavailable
        unknown.message += " The outcome of this commit is unknown until Hearth has been restarted; then read its documents."
        return unknown
    }

    private func reject(_ commits: ArraySlice<PendingCommit>, _ batch: CommitBatch, _ error: StatusError) {
        for (commit, outcome) in zip(commits, batch.outcomes) {
            switch outcome {
            case .success: commit.resume(with: .failure(error))
            case .failure(let own): commit.resume(with: .failure(own))
            }
        }
    }

    private func resume(_ commits: ArraySlice<PendingCommit>, _ batch: CommitBatch) {
        for (commit, outcome) in zip(commits, batch.outcomes) { commit.resume(with: outcome) }
    }
}
