internal import Concurrency
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO

/// Makes commits durable and visible, batch by batch (group commit).
///
/// The steps of a batch, and what happens if one fails:
///
/// 1. **Evaluate.** Each commit is evaluated against the results of the previous ones, and its reads are validated. A commit that
///    fails (a precondition, a changed read, a damaged document) fails alone.
/// 2. **Stage.** The documents are written to temporary files, and the files to be replaced or removed are checked. If that fails,
///    usually because the disk is full or a file is immutable, the commits are retried one by one, and those that fail are
///    rejected. Nothing has changed.
/// 3. **Append.** The records of all commits are appended to the journal and synced. When the disk is full, the commits are retried
///    one by one as in step 2. After any other failure the state on disk is unknown: the commits are rejected, and so are all
///    writes until the store is reopened.
/// 4. **Apply.** The temporary files are renamed into place, and the files of deleted documents are removed. The commits are
///    already durable, so they always succeed. When a file cannot be changed, readers get its document from memory, and all
///    writes are rejected until the file has been changed. Each subsequent write tries again, and so does opening the store.
/// 5. **Publish.** The commits are queued for the index, which applies them asynchronously, and published to the change feed. The
///    callers are resumed. When the index lags too far behind, the next batch waits for it.
///
/// Commits with many writes would make the others wait. Their documents are read before step 1 and their files are written after step
/// 5, in steps between the batches of small commits; see ``LargeBatch``. Step 2 reserves the disk space instead. Until step 4 has
/// ended, readers get the documents from memory, and the callers wait.
///
/// An actor on its own queue, since it mostly waits for the disk. A method that blocks holds the actor, which is intended:
/// batches follow each other.
actor Committer {
    private let components: StoreComponents
    private var writer: JournalWriter
    private var applier: DocumentApplier
    private var last: (sequence: SequenceNumber, time: Timestamp?)
    private var scopeVersions: ScopeVersions
    private var receipts: CommitReceipts
    private var quotaUsage = QuotaUsage()
    /// The journal bytes written, and the documents changed, since the last checkpoint.
    private var uncheckpointed = (bytes: 0, documents: 0)
    /// True if files have been written anew without a commit since the last checkpoint.
    private var hasRewrittenFiles = false
    private var isClosed = false
    /// The large commits in progress.
    private var largeBatch: LargeBatch?
    /// The large commits that follow, because they did not fit into the batch.
    private var remainingLargeCommits: [PendingCommit] = []

    private nonisolated let executor = SerialQueueExecutor(label: "hearth.committer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - last: The last commit, and the latest assigned commit time.
    ///   - receipts: The receipts of the commits up to it.
    init(
        _ components: StoreComponents,
        writer: consuming JournalWriter,
        fileWriter: consuming DocumentFileWriter,
        last: (sequence: SequenceNumber, time: Timestamp?),
        receipts: CommitReceipts
    ) {
        self.components = components
        self.writer = writer
        applier = DocumentApplier(
            fileWriter,
            in: components.data,
            unapplied: components.unapplied,
            logger: components.logger
        )
        self.last = last
        self.receipts = receipts
        scopeVersions = ScopeVersions(after: last.sequence)
    }

    /// Runs `work` on the committer after previously submitted work; returns immediately. The work is dropped with the committer.
    nonisolated func submit(after delay: Duration = .zero, _ work: @escaping @Sendable (isolated Committer) -> Void) {
        executor.submit(after: delay) { [weak self] in self?.assumeIsolated(work) }
    }

    /// Processes commits in order and resumes their callers.
    func process(_ commits: [PendingCommit]) {
        var rest = commits[...]
        while !rest.isEmpty { rest = rest.dropFirst(processBatch(rest)) }
        startCheckpointIfDue()
    }

    /// The last commit, when it is after the last checkpoint; otherwise `nil`.
    var uncheckpointedSequence: SequenceNumber? {
        last.sequence > components.data.manifest.sequence ? last.sequence : nil
    }

    private func startCheckpointIfDue() {
        let isDue =
            uncheckpointed.bytes >= components.checkpointBytes || uncheckpointed.documents >= components.checkpointDocuments
        if isDue { startCheckpoint() }
    }

    /// Starts a checkpoint in the background.
    func startCheckpoint() {
        // The journal of unapplied documents must be retained.
        guard components.writeLatch.error == nil, components.unapplied.blocking.isEmpty, !applier.isInstalling else { return }
        _ = applier.retryQuarantined()
        if let time = last.time { receipts.removeExpired(at: time) }
        components.checkpointer.start(checkpoint)
        uncheckpointed = (0, 0)
        hasRewrittenFiles = false
    }

    /// Closes the journal and the index, and makes the final checkpoint, after the last commit. Only the first call has an effect.
    ///
    /// - Returns: The error that kept the store from being closed cleanly; `nil` on success.
    func close() -> StatusError? {
        guard !isClosed else { return nil }
        isClosed = true
        writer.close()
        let isIndexDurable = components.index.close()
        if let error = components.permanentWriteBlockedReason ?? applier.retryUnapplied() {
            components.checkpointer.wait()
            return error
        }
        if applier.rewriteKeptTexts() { hasRewrittenFiles = true }
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
            stored: components.unapplied.stored,
            hasRewrittenFiles: hasRewrittenFiles,
            receipts: StoredReceipts(receipts, through: last.sequence)
        )
    }
}

// MARK: - Edited files

extension Committer {
    /// Writes the file of the last committed version of a document anew, unless the file has changed.
    ///
    /// - Returns: `false` if the file could not be written.
    func rewrite(_ document: EncodedDocument, ifFileIs identity: FileIdentity?) -> Bool {
        changeFile { applier in applier.rewrite(document, ifFileIs: identity) }
    }

    /// Lets the file of the last committed version of a document keep its text, unless the file has changed since the edit.
    ///
    /// - Parameter edit: The edit, which has changed nothing but the form of the file.
    /// - Returns: `false` if too many files keep theirs.
    func keepText(_ edit: FileEdit, of document: EncodedDocument) -> Bool {
        changeFile { applier in applier.keepText(edit, of: document) }
    }

    /// Retries the recovery of a quarantined document.
    ///
    /// - Returns: The error that keeps it quarantined; `nil` if its file is that of its last commit now, or an edit.
    func retryQuarantined(_ path: DocumentPath) -> StatusError? {
        var failure: StatusError?
        let isRetried = changeFile { applier in
            do throws(StatusError) {
                try applier.retryQuarantined(path)
            } catch {
                failure = error
            }
            return true
        }
        return isRetried ? failure : StatusError(.unavailable, "Files cannot be changed at the moment.", path: path.string)
    }

    /// Changes a file without a commit.
    private func changeFile(_ body: (inout DocumentApplier) -> Bool) -> Bool {
        guard !isClosed, components.writeBlockedReason == nil else { return false }
        defer { applier.endBatch() }
        do throws(StatusError) {
            // A crash leaves a temporary file. In this order, as for commits.
            try writer.prepare(first: last.sequence.next)
            try components.checkpointer.markUnclean(components.index)
        } catch {
            return false
        }
        hasRewrittenFiles = true
        return body(&applier)
    }
}

// MARK: - Large commits

extension Committer {
    /// True while a large batch is in progress.
    var hasLargeBatch: Bool { largeBatch != nil }

    /// Starts a batch of large commits. There must be none in progress.
    func startLargeBatch(_ commits: [PendingCommit]) {
        largeBatch = LargeBatch(commits)
    }

    /// Continues the large batch in progress until a deadline: prepares its writes, commits them or changes their files.
    func continueLargeBatch(until deadline: ContinuousClock.Instant) {
        defer { applier.endBatch() }
        guard largeBatch?.completion == nil else { return installLargeBatch(until: deadline) }
        while ContinuousClock.now < deadline {
            guard largeBatch?.prepareNext(&applier) == true else { return commitLargeBatch() }
        }
    }

    private func commitLargeBatch() {
        guard let batch = largeBatch else { return }
        let count = processBatch(batch.commits[...], prepared: batch)
        remainingLargeCommits = Array(batch.commits.dropFirst(count))
        guard !applier.isInstalling else { return }
        // Nothing has changed.
        applier.removeEmptyFolders(of: batch.collections)
        finishLargeBatch()
    }

    private func installLargeBatch(until deadline: ContinuousClock.Instant) {
        applier.install(until: deadline)
        guard !applier.isInstalling, let batch = largeBatch, let completion = batch.completion else { return }
        // The space that deletions have freed is reserved again, and the folders of commits that failed are removed.
        components.data.reserve?.replenish()
        if batch.hasFailures { applier.removeEmptyFolders(of: batch.collections) }
        resume(batch.commits[...], completion.outcomes, sync: completion.sync)
        finishLargeBatch()
        startCheckpointIfDue()
    }

    private func finishLargeBatch() {
        largeBatch = remainingLargeCommits.isEmpty ? nil : LargeBatch(remainingLargeCommits)
        remainingLargeCommits = []
    }
}

// MARK: - Replication

extension Committer {
    /// Applies commits of a primary, which follow the last one. They are durable and visible when this returns.
    ///
    /// - Throws: `.dataLoss` if a commit does not fit; the error of the disk. The commits before it have been applied.
    func apply(_ commits: [Commit]) throws(StatusError) {
        var rest = commits[...]
        while !rest.isEmpty { rest = rest.dropFirst(try applyBatch(rest)) }
        startCheckpointIfDue()
    }

    /// Applies the first commits as one batch; returns their number.
    private func applyBatch(_ commits: ArraySlice<Commit>) throws(StatusError) -> Int {
        let begin = ContinuousClock.now
        defer {
            applier.endBatch()
            components.timestamps.endBatch()
        }
        if let error = components.permanentWriteBlockedReason ?? applier.retryUnapplied() { throw error }
        let batch = try ReplicatedBatch(commits, after: components.feed.position) { path throws(StatusError) in
            try applier.retryQuarantined(path)
            return try applier.document(at: path, replacing: nil)
        }
        // In this order, as for other commits.
        try writer.prepare(first: last.sequence.next)
        try components.checkpointer.markUnclean(components.index)
        let netChanges = batch.netChanges
        let staged: DocumentApplier.StagedBatch
        if batch.isLarge {
            for change in netChanges {
                try applier.checkIsWritable(change.path, creatingFolder: change.document != nil)
            }
            staged = try applier.stageLarge(netChanges)
        } else {
            staged = try applier.stage(netChanges)
        }
        let appended: JournalWriter.AppendedBatch
        do throws(JournalWriter.Failure) {
            appended = try writer.append(batch.commits)
        } catch {
            applier.discard(consume staged)
            throw error.isRecoverable ? error.status : blockWrites(error.status)
        }
        for commit in batch.commits { receipts.record(commit) }
        didAppend(batch.commits, appended, last: batch.last, netChanges, staged, batch.indexUpdate)
        for commit in batch.commits {
            let period = begin..<ContinuousClock.now
            components.observer?.didCommit(writeCount: commit.changes.count, period: period, sync: appended.sync)
        }
        while applier.isInstalling { applier.install(until: .now + .seconds(1)) }
        components.index.applyBackpressure()
        return batch.commits.count
    }
}

// MARK: - Batches

extension Committer {
    /// Processes the first pending commits as one batch; returns their number.
    ///
    /// - Parameter prepared: The batch, if the commits are large. Their files are changed later, and the callers resumed then.
    private func processBatch(_ pending: ArraySlice<PendingCommit>, prepared: LargeBatch? = nil) -> Int {
        defer {
            applier.endBatch()
            components.timestamps.endBatch()
        }
        if let error = components.permanentWriteBlockedReason {
            for commit in pending { commit.resume(with: .failure(error)) }
            return pending.count
        }
        var pending = pending
        if let error = applier.retryUnapplied() {
            // Only deletions make room.
            let isPermitted = { (commit: PendingCommit) in error.code == .resourceExhausted && !commit.storesDocuments }
            let rejected = pending.prefix { !isPermitted($0) }
            for commit in rejected { commit.resume(with: .failure(error)) }
            guard rejected.isEmpty else { return rejected.count }
            pending = pending.prefix(while: isPermitted)
        }
        let batch = evaluate(pending, prepared)
        let commits = pending.prefix(batch.outcomes.count)
        guard !batch.commits.isEmpty else {
            // Commits without changes have used commit times too. On a standby, only the primary assigns times.
            if components.primary == nil { last.time = batch.last.time }
            record(batch.receipts)
            if let prepared { applier.removeEmptyFolders(of: prepared.collections) }
            resume(commits, batch.outcomes)
            return commits.count
        }
        do throws(StatusError) {
            // In this order: an unclean store without a segment counts as one that lost its journal.
            if batch.onlyDeletes {
                try components.data.usingReserve { () throws(StatusError) in try writer.prepare(first: last.sequence.next) }
            } else {
                try writer.prepare(first: last.sequence.next)
            }
            try components.checkpointer.markUnclean(components.index)
        } catch {
            if error.code == .resourceExhausted { return retry(commits, after: error) }
            reject(commits, batch, error)
            return commits.count
        }
        let netChanges = batch.netChanges
        let staged: DocumentApplier.StagedBatch
        do throws(StatusError) {
            staged = try prepared == nil ? applier.stage(netChanges) : applier.stageLarge(netChanges)
        } catch {
            return retry(commits, after: error)
        }
        let appended: JournalWriter.AppendedBatch
        do throws(JournalWriter.Failure) {
            appended = try append(batch)
        } catch {
            applier.discard(consume staged)
            if error.isRecoverable { return retry(commits, after: error.status) }
            reject(commits, batch, blockWrites(error.status))
            return commits.count
        }
        record(batch.receipts)
        didAppend(batch.commits, appended, last: batch.last, netChanges, staged, batch.indexUpdate, batch.allowance)
        let sync = appended.sync
        if batch.onlyDeletes, prepared == nil { components.data.reserve?.replenish() }
        if prepared == nil {
            largeBatch?.forget(netChanges)
            resume(commits, batch.outcomes, sync: sync)
        } else {
            largeBatch?.didCommit(batch.outcomes, sync: sync)
        }
        components.index.applyBackpressure()
        return commits.count
    }

    /// Takes over the receipts of a batch, once its commits are durable.
    private func record(_ batch: [CommitClientID: ClientReceipts]) {
        for (client, receipts) in batch { self.receipts.update(client, receipts) }
    }

    /// Applies and publishes durable commits.
    private func didAppend(
        _ commits: [Commit],
        _ appended: JournalWriter.AppendedBatch,
        last newLast: (sequence: SequenceNumber, time: Timestamp?),
        _ netChanges: [NetDocumentChange],
        _ staged: consuming DocumentApplier.StagedBatch,
        _ indexUpdate: IndexUpdate?,
        _ allowance: DatabaseQuota.Allowance? = nil
    ) {
        let sync = appended.sync
        components.observer?.didSync(commitCount: commits.count, duration: sync.upperBound - sync.lowerBound)
        components.history.append(commits, at: appended)
        components.feed.willApply(through: newLast.sequence)
        applier.apply(netChanges, staged, first: last.sequence.next)
        last = newLast
        quotaUsage.record(allowance, through: last.sequence)
        for commit in commits { scopeVersions.record(commit) }
        uncheckpointed.bytes += appended.byteCount
        uncheckpointed.documents += netChanges.count
        if let indexUpdate { components.index.enqueue(indexUpdate) }
        components.unreadable.remove(netChanges.lazy.map(\.path))
        components.feed.publish(commits)
        components.timestamps.endBatch()
    }

    /// Appends a batch to the journal: on a full disk in the reserved space, if the batch only deletes documents.
    private func append(_ batch: CommitBatch) throws(JournalWriter.Failure) -> JournalWriter.AppendedBatch {
        do throws(JournalWriter.Failure) {
            return try writer.append(batch.commits)
        } catch {
            guard error.isRecoverable, batch.onlyDeletes, let reserve = components.data.reserve else { throw error }
            do throws(JournalWriter.Failure) {
                return try reserve.withReleased { () throws(JournalWriter.Failure) in try writer.append(batch.commits) }
            } catch {
                throw error.advisingSmallerDeletions(documents: batch.commits.count == 1 ? batch.netChanges.count : 1)
            }
        }
    }

    private func evaluate(_ pending: ArraySlice<PendingCommit>, _ prepared: LargeBatch?) -> CommitBatch {
        var batch = CommitBatch(
            after: last,
            images: prepared?.images ?? [:],
            maximumCommitBytes: JournalRecord.maximumBytes,
            now: components.timestamps.nextCommitTime
        )
        batch.allowance = allowance(after: last.sequence)
        let (earlier, earlierReceipts) = (scopeVersions, receipts)
        for (index, commit) in pending.enumerated() {
            let request = commit.request
            guard batch.accepts(request) else { break }
            let outdatedEdit = commit.edits.keys.first(where: batch.hasChanged)
            batch.add(request, lastChange: earlier.lastChange, earlierReceipts: earlierReceipts) { () throws(StatusError) in
                if let error = prepared?.failures[index] { throw error }
                if let outdatedEdit {
                    throw StatusError(.aborted, "The document has changed since its file was edited.", path: outdatedEdit.string)
                }
                for write in commit.writes { try applier.retryQuarantined(write.path) }
            } read: { path throws(StatusError) in
                if let edit = commit.edits[path] { return try applier.version(before: edit) }
                return try applier.document(at: path, replacing: commit.reads.damagedFiles[path])
            }
        }
        return batch
    }

    /// Retries each commit of a batch in a separate batch, after staging or appending failed without a change.
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
        // Not the cause's own code, which might imply that nothing has changed.
        unknown.code = .unavailable
        unknown.message += " The outcome of this commit is unknown until Hearth has been restarted; then read its documents."
        return unknown
    }

    private func reject(_ commits: ArraySlice<PendingCommit>, _ batch: CommitBatch, _ error: StatusError) {
        for (commit, outcome) in zip(commits, batch.outcomes) {
            switch outcome {
            // It was made before.
            case .success(let result) where result.isReplayed && result.commitTime <= last.time ?? .minimum:
                commit.resume(with: .success(result))
            case .success: commit.resume(with: .failure(error))
            case .failure(let own): commit.resume(with: .failure(own))
            }
        }
    }

    /// Returns the additions that the next commits may make; `nil` without a quota.
    private func allowance(after last: SequenceNumber) -> DatabaseQuota.Allowance? {
        let quota = components.quota.value
        guard !quota.isUnlimited else {
            quotaUsage = QuotaUsage()
            return nil
        }
        if quotaUsage.begins(after: last) { components.index.waitUntilOpened(atMost: .seconds(1)) }
        return quotaUsage.allowance(of: quota, after: last, components.index.appliedSize)
    }

    private func resume(
        _ commits: ArraySlice<PendingCommit>,
        _ outcomes: [Result<CommitResult, StatusError>],
        sync: Range<ContinuousClock.Instant>? = nil
    ) {
        for (commit, outcome) in zip(commits, outcomes) { commit.resume(with: outcome, sync: sync) }
    }
}

extension JournalWriter.Failure {
    /// Returns the failure of a batch of deletions with advice, if fewer of them may fit.
    fileprivate func advisingSmallerDeletions(documents: Int) -> JournalWriter.Failure {
        guard isRecoverable, documents > 1, status.code == .resourceExhausted else { return self }
        var advised = status
        advised.message += " Delete fewer than \(documents) documents at once: a commit needs space for their JSON."
        return JournalWriter.Failure(status: advised, isRecoverable: true)
    }
}
