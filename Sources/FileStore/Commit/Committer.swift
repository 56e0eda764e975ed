internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import Synchronization

/// Makes commits durable and visible, batch after batch (group commit).
///
/// The steps of a batch, and the consequences of a failure in each:
///
/// 1. **Evaluate.** Each commit is evaluated on the results of the previous ones, and its reads are validated. A commit that fails (a
///    precondition, a changed read, a damaged document) fails alone.
/// 2. **Stage.** The documents are written to temporary files, and the files to be replaced or removed are checked. When that fails,
///    mostly because the disk is full or a file is immutable, the commits are retried one by one, and those that fail are rejected.
///    Nothing has changed.
/// 3. **Append.** The records of all commits are appended to the journal and synced. When the disk is full, the commits are retried
///    one by one as in step 2. After any other failure the state on disk is unknown: the commits are rejected, and so are all
///    writes until the store is reopened.
/// 4. **Apply.** The temporary files are renamed into place, and the files of deleted documents are removed. The commits are durable
///    now, so they succeed in any case. When a file can't be changed, readers get its document from memory, and all writes are
///    rejected until the file has been changed. Each further write tries again, and so does opening the store.
/// 5. **Publish.** The commits are queued for the index, which applies them asynchronously, and published to the change feed. The
///    callers are resumed. When the index lags too far behind, the next batch waits for it.
final class Committer: Sendable {
    let components: StoreComponents
    private let state: Mutex<State>

    private struct State {
        var writer: JournalWriter
        var fileWriter: DocumentFileWriter
        var last: (sequence: SequenceNumber, time: Timestamp?)
        var scopeVersions: ScopeVersions
        /// The journal bytes written since the last checkpoint.
        var uncheckpointedBytes = 0
    }

    /// - Parameter last: The last commit, and the latest assigned commit time.
    init(
        _ components: StoreComponents,
        writer: JournalWriter,
        fileWriter: DocumentFileWriter,
        last: (sequence: SequenceNumber, time: Timestamp?)
    ) {
        self.components = components
        state = Mutex(
            State(writer: writer, fileWriter: fileWriter, last: last, scopeVersions: ScopeVersions(after: last.sequence))
        )
    }

    /// Processes commits in order and resumes their callers. Called on the commit queue's thread only.
    func process(_ commits: [PendingCommit]) {
        state.withLock { state in
            var rest = commits[...]
            while !rest.isEmpty { rest = rest.dropFirst(processBatch(rest, &state)) }
            if state.uncheckpointedBytes >= components.checkpointBytes { startCheckpoint(&state) }
        }
    }

    /// The last commit, when it is after the last checkpoint; otherwise nil.
    var uncheckpointedSequence: SequenceNumber? {
        let checkpoint = components.data.manifest.sequence
        return state.withLock { $0.last.sequence > checkpoint ? $0.last.sequence : nil }
    }

    /// Starts a checkpoint in the background.
    func startCheckpoint() {
        state.withLock { startCheckpoint(&$0) }
    }

    /// Closes the journal and the index, and makes the final checkpoint, after the last commit.
    ///
    /// - Returns: The error that kept the store from being closed cleanly; nil on success.
    func close() -> StatusError? {
        state.withLock { state in
            state.writer.close()
            let isIndexDurable = components.index.close()
            if let error = components.permanentWriteBlockedReason ?? retryUnapplied(&state.fileWriter) {
                components.checkpointer.wait()
                return error
            }
            let quarantineError = retryQuarantined(&state.fileWriter)
            let checkpointError = components.checkpointer.finish(
                checkpoint(state),
                isIndexDurable: isIndexDurable,
                hasLeftoverTemporaryFile: state.fileWriter.hasLeftoverTemporaryFile
            )
            return quarantineError ?? checkpointError
        }
    }
}

extension Committer {
    /// Processes the first pending commits as one batch; returns their number.
    private func processBatch(_ pending: ArraySlice<PendingCommit>, _ state: inout State) -> Int {
        defer {
            state.fileWriter.endBatch()
            components.timestamps.endBatch()
        }
        if let error = components.permanentWriteBlockedReason ?? retryUnapplied(&state.fileWriter) {
            for commit in pending { commit.resume(with: .failure(error)) }
            return pending.count
        }
        let batch = evaluate(pending, &state)
        let commits = pending.prefix(batch.outcomes.count)
        guard !batch.commits.isEmpty else {
            // Commits without changes have used commit times too.
            state.last.time = batch.last.time
            resume(commits, batch)
            return commits.count
        }
        do throws(StatusError) {
            // In this order: an unclean store without a segment counts as one that lost its journal.
            try state.writer.prepare(first: state.last.sequence.next)
            try components.checkpointer.markUnclean(components.index)
        } catch {
            reject(commits, batch, error)
            return commits.count
        }
        let netChanges = batch.netChanges
        let staged: [DocumentFileWriter.StagedDocument]
        do throws(StatusError) {
            staged = try stage(netChanges, &state.fileWriter)
        } catch {
            return retry(commits, after: error, &state)
        }
        let appended: JournalWriter.AppendedBatch
        do throws(JournalWriter.Failure) {
            appended = try state.writer.append(batch.commits)
        } catch {
            // Consumed, because unnamed files take space while they are open.
            state.fileWriter.discard(consume staged)
            if error.isRecoverable { return retry(commits, after: error.status, &state) }
            reject(commits, batch, blockWrites(error.status))
            return commits.count
        }
        components.history.append(batch.commits, at: appended)
        components.feed.willApply(through: batch.last.sequence)
        apply(netChanges, staged, &state.fileWriter)
        state.last = batch.last
        for commit in batch.commits { state.scopeVersions.record(commit) }
        state.uncheckpointedBytes += appended.byteCount
        if let update = batch.indexUpdate { components.index.enqueue(update) }
        components.feed.publish(batch.commits)
        components.timestamps.endBatch()
        resume(commits, batch)
        components.index.applyBackpressure()
        return commits.count
    }

    private func evaluate(_ pending: ArraySlice<PendingCommit>, _ state: inout State) -> CommitBatch {
        var batch = CommitBatch(after: state.last, now: components.timestamps.nextCommitTime)
        let earlier = state.scopeVersions
        for commit in pending {
            guard batch.accepts(commit) else { break }
            do throws(StatusError) {
                for write in commit.writes { try retryQuarantined(write.path, &state.fileWriter) }
            } catch {
                batch.reject(commit, because: error)
                continue
            }
            batch.add(commit, earlier: earlier) { path throws(StatusError) in
                if let image = components.unapplied.image(of: path) { return image }
                guard let damagedFile = commit.reads.damagedFiles[path] else { return try state.fileWriter.document(at: path) }
                return try state.fileWriter.document(at: path, replacing: damagedFile)
            }
        }
        return batch
    }

    private func stage(
        _ netChanges: [CommitBatch.NetChange],
        _ fileWriter: inout DocumentFileWriter
    ) throws(StatusError) -> [DocumentFileWriter.StagedDocument] {
        var staged: [DocumentFileWriter.StagedDocument] = []
        do throws(StatusError) {
            for change in netChanges {
                if let document = change.document {
                    staged.append(try fileWriter.stage(document, isNew: change.isNew))
                } else {
                    try fileWriter.checkIsRemovable(change.path)
                }
            }
        } catch {
            fileWriter.discard(staged)
            throw error
        }
        return staged
    }

    /// Retries each commit of a batch in a batch of its own, after staging or appending failed without a change.
    private func retry(_ commits: ArraySlice<PendingCommit>, after error: StatusError, _ state: inout State) -> Int {
        if commits.count == 1 {
            for commit in commits { commit.resume(with: .failure(error)) }
        } else {
            // Folders created for staged files may have been removed with them.
            state.fileWriter.endBatch()
            for index in commits.indices { _ = processBatch(commits[index...index], &state) }
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

    private func startCheckpoint(_ state: inout State) {
        // The journal of unapplied documents must be retained.
        guard components.writeLatch.error == nil, components.unapplied.blocking.isEmpty else { return }
        _ = retryQuarantined(&state.fileWriter)
        components.checkpointer.start(checkpoint(state))
        state.uncheckpointedBytes = 0
    }

    private func checkpoint(_ state: State) -> Checkpointer.Checkpoint {
        Checkpointer.Checkpoint(
            sequence: state.last.sequence,
            time: state.last.time,
            quarantined: components.unapplied.quarantined
        )
    }
}
