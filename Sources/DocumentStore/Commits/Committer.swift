internal import DocumentModel
internal import Logging
internal import Synchronization

/// Makes commits durable and visible, batch after batch.
///
/// The steps of a batch, and what a failure in each means:
///
/// 1. Each commit is evaluated on what the ones before it made, and what it has read is compared with that. One that fails (a
///    precondition, a changed document, a damaged one) fails alone.
/// 2. The documents are written into temporary files, and the files looked at that are to be replaced or
///    removed. When that fails, for want of space mostly, or because one is marked as unchangeable, the batch's commits are
///    tried again one by one, and those that fail are refused. Nothing has happened.
/// 3. The frames of all commits are appended to the journal, and synced. When there is no space the commits are tried one by one
///    like that, and the store goes on. When the write or the sync fails otherwise, nobody knows what is on disk: the commits are
///    refused, and the store takes no more until it is opened again.
/// 4. The temporary files are put into place, deleted documents' files removed. The commits are durable now, so they
///    count whatever happens: where this fails, readers are given the documents from memory, and no more writes are
///    taken until it succeeds; the next write tries again, and so does opening the store.
/// 5. The commits are given to the index, which takes them in on its own, and published to the change feed, and the callers go
///    on. When the index lags too far behind, the next batch waits for it.
final class Committer: Sendable {
    let parts: StoreParts
    private let state: Mutex<State>

    private struct State {
        var writer: JournalWriter
        var installer: DocumentInstaller
        var last: (sequence: SequenceNumber, time: Timestamp?)
        var changes: CollectionChanges
        var uncheckedBytes = 0
    }

    init(_ opened: OpenedStore) {
        parts = opened.parts
        state = Mutex(
            State(
                writer: opened.writer,
                installer: opened.installer,
                last: opened.last,
                changes: CollectionChanges(after: opened.last.sequence)
            )
        )
    }

    /// Carries out commits in order and lets their callers go on. Only the commit queue's thread calls this.
    func process(_ commits: [PendingCommit]) {
        state.withLock { state in
            var rest = commits[...]
            while !rest.isEmpty { rest = rest.dropFirst(processBatch(rest, &state)) }
            checkpointIfDue(&state)
        }
    }

    /// The last commit, when a checkpoint has not reached it, because none was begun or it failed.
    var uncheckedSequence: SequenceNumber? {
        let checked = parts.data.description.sequence
        return state.withLock { $0.last.sequence > checked ? $0.last.sequence : nil }
    }

    /// Brings the documents' files to disk in the background, unless that is going on.
    func startCheckpoint() {
        state.withLock { startCheckpoint(&$0) }
    }

    /// Brings everything to disk, after the last commit; returns why it could not, or nil.
    func finish() -> StatusError? {
        state.withLock { state in
            state.writer.close()
            let isIndexOnDisk = parts.index.close()
            if let error = parts.permanentObstacle ?? installMissing(&state.installer) {
                parts.checkpointer.wait()
                return error
            }
            let waiting = installConfined(&state.installer)
            let failure = parts.checkpointer.finish(
                checkpoint(state),
                isIndexOnDisk: isIndexOnDisk,
                leavesTemporaryFile: state.installer.leavesTemporaryFile
            )
            return waiting ?? failure
        }
    }
}

extension Committer {
    /// Carries out the first commits of those waiting; returns how many.
    private func processBatch(_ waiting: ArraySlice<PendingCommit>, _ state: inout State) -> Int {
        defer {
            state.installer.endBatch()
            parts.clock.endBatch()
        }
        if let error = parts.permanentObstacle ?? installMissing(&state.installer) {
            for commit in waiting { commit.finish(.failure(error)) }
            return waiting.count
        }
        let batch = evaluate(waiting, &state)
        let commits = waiting.prefix(batch.outcomes.count)
        guard !batch.commits.isEmpty else {
            // The times of commits that changed nothing have been given out too.
            state.last.time = batch.last.time
            finish(commits, batch)
            return commits.count
        }
        do throws(StatusError) {
            // In this order: a store that is not closed and has no journal has lost it.
            try state.writer.prepare(first: state.last.sequence.next)
            try parts.checkpointer.willWrite(parts.index)
        } catch {
            refuse(commits, batch, error)
            return commits.count
        }
        let results = batch.results
        let staged: [DocumentInstaller.StagedFile]
        do throws(StatusError) {
            staged = try stage(results, &state.installer)
        } catch {
            return retry(commits, after: error, &state)
        }
        let place: JournalWriter.Place
        do throws(JournalWriter.Failure) {
            place = try state.writer.append(batch.commits)
        } catch {
            // Consumed, because files without a name take room as long as they are open.
            state.installer.discard(consume staged)
            if error.isRecoverable { return retry(commits, after: error.status, &state) }
            refuse(commits, batch, stop(error.status))
            return commits.count
        }
        parts.history.note(batch.commits, at: place)
        parts.feed.willInstall(through: batch.last.sequence)
        install(results, staged, &state.installer)
        state.last = batch.last
        for commit in batch.commits { state.changes.note(commit) }
        state.uncheckedBytes += place.byteCount
        if let update = batch.indexUpdate { parts.index.add(update) }
        parts.feed.publish(batch.commits)
        parts.clock.endBatch()
        finish(commits, batch)
        parts.index.waitForRoom()
        return commits.count
    }

    private func evaluate(_ waiting: ArraySlice<PendingCommit>, _ state: inout State) -> CommitBatch {
        var batch = CommitBatch(after: state.last, now: parts.clock.time)
        let earlier = state.changes
        for commit in waiting {
            guard batch.hasRoom(for: commit) else { break }
            do throws(StatusError) {
                for write in commit.writes { try installConfined(write.path, &state.installer) }
            } catch {
                batch.refuse(commit, because: error)
                continue
            }
            batch.add(commit, earlier: earlier) { path throws(StatusError) in
                if let image = parts.uninstalled.image(of: path) { return image }
                guard let damage = commit.reads.damage[path] else { return try state.installer.document(at: path) }
                return try state.installer.document(at: path, damagedAs: damage)
            }
        }
        return batch
    }

    private func stage(
        _ results: [BatchResult],
        _ installer: inout DocumentInstaller
    ) throws(StatusError) -> [DocumentInstaller.StagedFile] {
        var staged: [DocumentInstaller.StagedFile] = []
        do throws(StatusError) {
            for result in results {
                if let document = result.document {
                    staged.append(try installer.stage(document, isNew: result.isNew))
                } else {
                    try installer.checkIsRemovable(result.path)
                }
            }
        } catch {
            installer.discard(staged)
            throw error
        }
        return staged
    }

    /// After staging a batch or appending it failed, and nothing has happened: lets each commit fail or succeed on its own.
    private func retry(_ commits: ArraySlice<PendingCommit>, after error: StatusError, _ state: inout State) -> Int {
        if commits.count == 1 {
            for commit in commits { commit.finish(.failure(error)) }
        } else {
            // Folders may have been removed again with what was staged in them.
            state.installer.endBatch()
            for index in commits.indices { _ = processBatch(commits[index...index], &state) }
        }
        return commits.count
    }

    /// Stops the store; returns the error for the commits that were being written.
    private func stop(_ error: StatusError) -> StatusError {
        parts.failure.stop(error)
        parts.logger.critical(
            "The journal could not be written; no more writes are taken until Hearth is started again",
            metadata: ["error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
        )
        var unknown = error
        // Not the cause's own code: it may be one that says that nothing has happened.
        unknown.code = .unavailable
        unknown.message += " Whether this commit counts is known when Hearth has been started again: read what it was to write."
        return unknown
    }

    private func refuse(_ commits: ArraySlice<PendingCommit>, _ batch: CommitBatch, _ error: StatusError) {
        for (commit, outcome) in zip(commits, batch.outcomes) {
            switch outcome {
            case .success: commit.finish(.failure(error))
            case .failure(let own): commit.finish(.failure(own))
            }
        }
    }

    private func finish(_ commits: ArraySlice<PendingCommit>, _ batch: CommitBatch) {
        for (commit, outcome) in zip(commits, batch.outcomes) { commit.finish(outcome) }
    }

    private func checkpointIfDue(_ state: inout State) {
        if state.uncheckedBytes >= parts.checkpointBytes { startCheckpoint(&state) }
    }

    private func startCheckpoint(_ state: inout State) {
        // The journal of what is not in the files must not go.
        guard parts.failure.error == nil, parts.uninstalled.obstructing.isEmpty else { return }
        _ = installConfined(&state.installer)
        parts.checkpointer.start(checkpoint(state))
        state.uncheckedBytes = 0
    }

    private func checkpoint(_ state: State) -> Checkpointer.Checkpoint {
        Checkpointer.Checkpoint(sequence: state.last.sequence, time: state.last.time, waiting: parts.uninstalled.confined)
    }
}
