import DocumentModel
import DocumentStore
import HearthAPI

/// Deletes the documents that were confirmed, in the versions that existed when the confirmation page was shown.
///
/// Documents written after that are kept together with everything below them, because their deletion was not confirmed.
///
/// No point-in-time reads are needed, however long the job takes: each document is deleted with its update time as the
/// precondition, and a document that matches the query and was last changed before the confirmation page was shown also matched
/// it at that time.
///
/// The job records its commits, so that it can be undone.
struct DeletionJob: Sendable {
    let context: ServiceContext
    let job: BackgroundJob
    /// The time of the last commit that the confirmation page reflected.
    let shownTime: Timestamp

    /// Deletes documents.
    ///
    /// - Returns: The documents that no longer exist; `nil` if the job was cancelled.
    /// - Throws: An error that prevents all subsequent deletions.
    func delete(_ targets: [SelectedDocument]) async throws(StatusError) -> [DocumentPath]? {
        guard !job.isCancelled else { return nil }
        let (old, new) = (targets.filter { $0.updateTime <= shownTime }, targets.filter { $0.updateTime > shownTime })
        job.update { progress in for target in new { progress.keptPaths.append(target.path) } }
        let items = old.map { target in
            JobWriter.Item(
                write: .delete(target.path, precondition: .updateTime(target.updateTime)),
                byteCount: target.byteCount ?? JobWriter.unknownByteCount
            )
        }
        let outcome = try await JobWriter(context: context, job: job).commit(items) { progress, commit in
            progress.completedCount += commit.writeResults.count
        }
        var deleted = outcome.written.map(\.path)
        for (path, error) in outcome.rejected {
            if error.code != .failedPrecondition {
                add(error, at: path.string)
            } else if try await isDeleted(path) {
                job.update { $0.alreadyDeletedCount += 1 }
                deleted.append(path)
            } else {
                job.update { $0.keptPaths.append(path) }
            }
        }
        return job.isCancelled ? nil : deleted
    }

    /// Returns whether another client has deleted a document; `false` for one whose file is damaged.
    private func isDeleted(_ path: DocumentPath) async throws(StatusError) -> Bool {
        do throws(StatusError) {
            return try await context.document(at: path) == nil
        } catch {
            guard error.code == .dataLoss else { throw error }
            return false
        }
    }

    /// Deletes documents in the versions that were read.
    func delete(_ documents: [EncodedDocument]) async throws(StatusError) -> [DocumentPath]? {
        try await delete(documents.map(SelectedDocument.init))
    }

    /// Records unreadable documents, which are not deleted.
    func recordDamaged(_ errors: [StatusError]) {
        for error in errors { add(error, at: error.file?.path ?? error.path ?? "") }
    }

    private func add(_ error: StatusError, at location: String) {
        job.update { [itemError = job.itemError(error, at: location)] in $0.itemErrors.append(itemError) }
    }

    /// Deletes a collection with all its subcollections.
    func delete(_ collection: CollectionPath) async throws(StatusError) {
        try await Subtree(context: context).visit(collection) { batch throws(StatusError) in try await delete(batch) }
    }

    /// Deletes all subcollections of documents.
    func delete(below documents: [DocumentPath]) async throws(StatusError) {
        for path in documents {
            let isCompleted = try await Subtree(context: context).visit(below: path) { batch throws(StatusError) in
                try await delete(batch)
            }
            guard isCompleted else { return }
        }
    }

    private func delete(_ batch: Subtree.Batch) async throws(StatusError) -> [DocumentPath]? {
        recordDamaged(batch.damaged)
        return try await delete(batch.documents)
    }
}
