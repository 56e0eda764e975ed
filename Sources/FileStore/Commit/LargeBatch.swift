internal import DocumentModel
internal import DocumentStore

/// Large commits in progress.
///
/// Their documents are read before the batch is committed, and their files are written afterward, in steps between the batches of
/// small commits. So small commits wait for a step, or for the evaluation and the journal record of a large commit, but not for its
/// files.
struct LargeBatch {
    private(set) var commits: [PendingCommit]
    /// The documents that have been read, unless they have changed since.
    private(set) var images: [DocumentPath: CommitBatch.Image] = [:]
    /// The commits that fail because a file cannot be changed, by index.
    private(set) var failures: [Int: StatusError] = [:]
    /// The collections whose folders may have been created.
    private(set) var collections: Set<CollectionPath> = []
    /// The next write to prepare.
    private var next = (commit: 0, write: 0)
    /// The outcomes of the commits, once they are durable, and the time of the sync that made them so.
    private(set) var completion: Completion?

    struct Completion {
        let outcomes: [Result<CommitResult, StatusError>]
        let sync: Range<ContinuousClock.Instant>
    }

    init(_ commits: [PendingCommit]) {
        self.commits = commits
    }

    /// Prepares the next write: checks that the document's file can be changed, and reads it.
    ///
    /// - Returns: `false` if there are no more writes.
    mutating func prepareNext(_ applier: inout DocumentApplier) -> Bool {
        guard next.commit < commits.count else { return false }
        let commit = commits[next.commit]
        guard next.write < commit.writes.count, failures[next.commit] == nil else {
            next = (next.commit + 1, 0)
            return true
        }
        let write = commit.writes[next.write]
        do throws(StatusError) {
            let storesDocument = write.operation.storesDocument
            if storesDocument { collections.insert(write.path.collection) }
            try applier.checkIsWritable(write.path, creatingFolder: storesDocument)
        } catch {
            failures[next.commit] = error.withWriteIndex(next.write)
        }
        if images[write.path] == nil, commit.reads.damagedFiles[write.path] == nil {
            // An error is reported by the evaluation, which reads the document again.
            images[write.path] = try? CommitBatch.Image(applier.document(at: write.path, replacing: nil))
        }
        next.write += 1
        return true
    }

    /// True if some of the commits have failed.
    var hasFailures: Bool {
        completion?.outcomes.contains { outcome in if case .failure = outcome { true } else { false } } ?? false
    }

    /// Records that the first commits are durable.
    mutating func didCommit(_ outcomes: [Result<CommitResult, StatusError>], sync: Range<ContinuousClock.Instant>) {
        commits = Array(commits.prefix(outcomes.count))
        completion = Completion(outcomes: outcomes, sync: sync)
        images = [:]
    }

    /// Forgets documents that another batch has changed.
    mutating func forget(_ changes: [NetDocumentChange]) {
        guard !images.isEmpty else { return }
        for change in changes { images[change.path] = nil }
    }
}
