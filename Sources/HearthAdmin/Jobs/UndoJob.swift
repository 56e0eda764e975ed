import DocumentModel
import DocumentStore
import HearthAPI

/// Undoes the changes of a finished job: restores the documents that it deleted, and the earlier fields of those that it changed.
///
/// The commits of the job are read from the journal, and the documents as of the time before each of them. Documents that were written
/// after the commit are kept as they are.
struct UndoJob: Sendable {
    let context: ServiceContext
    let job: BackgroundJob
    /// The commits to undo, in order.
    let commits: [JobCommit]

    /// Undoes all commits that are retained; reports the others.
    ///
    /// - Throws: An error that prevents all subsequent writes.
    func run() async throws(StatusError) {
        let position = try await context.safePosition()
        let retained = commits.filter { position.oldestRetained <= $0.sequence && $0.sequence <= position.lastSequence }
        guard let first = retained.first else { throw Self.notRetained }
        if retained.count < commits.count {
            let time = TimeView(first.time).text
            job.update { [itemError = job.itemError(Self.notRetained, at: "< \(time)")] in $0.itemErrors.append(itemError) }
        }
        var remaining = retained[...]
        var sequence = context.commits(after: first.sequence.previous).makeAsyncIterator()
        while let next = remaining.first, !job.isCancelled, let commit = try await sequence.next() {
            guard commit.sequence == next.sequence else { continue }
            // A database of the same name may have taken the place of this one.
            guard commit.time == next.time else { throw Self.notRetained }
            try await undo(commit)
            remaining.removeFirst()
        }
    }

    private static var notRetained: StatusError {
        StatusError(.failedPrecondition, localized("The journal no longer retains these changes."))
    }

    private func undo(_ commit: Commit) async throws(StatusError) {
        let unknown = commit.changes.filter { $0.existedBefore && $0.before == nil }.map(\.path)
        let read = try await documents(at: unknown[...], before: commit.time)
        var before = Dictionary(read.map { ($0.path, $0) }) { first, _ in first }
        for change in commit.changes { if let image = change.before { before[change.path] = image } }
        var items: [JobWriter.Item] = []
        for change in commit.changes {
            let precondition: Precondition = change.after == nil ? .exists(false) : .updateTime(commit.time)
            guard let image = before[change.path] else {
                guard !change.existedBefore else {
                    job.update { [itemError = job.itemError(Self.notRetained, at: change.path.string)] in
                        $0.itemErrors.append(itemError)
                    }
                    continue
                }
                items.append(JobWriter.Item(write: .delete(change.path, precondition: precondition), byteCount: 0))
                continue
            }
            let write = try Write.set(change.path, image.decoded().fields, precondition: precondition)
            items.append(JobWriter.Item(write: write, byteCount: image.fieldsJSON.count))
        }
        let outcome = try await JobWriter(context: context, job: job).commit(items) { progress, commit in
            progress.completedCount += commit.writeResults.count
        }
        for (path, error) in outcome.rejected {
            if [.failedPrecondition, .alreadyExists, .notFound].contains(error.code) {
                job.update { $0.keptPaths.append(path) }
            } else {
                job.update { [itemError = job.itemError(error, at: path.string)] in $0.itemErrors.append(itemError) }
            }
        }
    }

    /// Reads documents as of the time before a commit, in parts if they are large.
    private func documents(
        at paths: ArraySlice<DocumentPath>,
        before time: Timestamp
    ) async throws(StatusError) -> [EncodedDocument] {
        guard !paths.isEmpty, let readTime = try? Timestamp(microseconds: time.microseconds - 1) else { return [] }
        do throws(StatusError) {
            let result = try await BatchGetDocuments.call(
                .init(paths: Array(paths), consistency: ReadConsistency(readTime: readTime)),
                in: context
            )
            return result.documents.compactMap { listed in
                if case .document(let document) = listed { document } else { nil }
            }
        } catch {
            guard error.code == .resourceExhausted, paths.count > 1 else { throw error }
            let middle = paths.startIndex + paths.count / 2
            return try await documents(at: paths[..<middle], before: time) + documents(at: paths[middle...], before: time)
        }
    }
}
