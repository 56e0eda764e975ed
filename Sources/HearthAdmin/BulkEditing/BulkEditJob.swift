import DocumentModel
import DocumentStore
import HearthAPI

/// Changes a field of the documents that were confirmed, in the versions that existed when the confirmation page was shown.
///
/// Documents written after that are kept. The job records its commits, so that it can be undone.
struct BulkEditJob: Sendable {
    let context: ServiceContext
    let job: BackgroundJob
    let change: FieldChange

    /// Changes documents, and reports those that could not be changed.
    ///
    /// - Throws: An error that prevents all subsequent changes.
    func edit(_ documents: [SelectedDocument]) async throws(StatusError) {
        var items: [JobWriter.Item] = []
        for document in documents {
            items.append(
                JobWriter.Item(
                    write: try change.write(to: document),
                    byteCount: 2 * (document.byteCount ?? JobWriter.unknownByteCount)
                )
            )
        }
        let outcome = try await JobWriter(context: context, job: job).commit(items) { progress, commit in
            let changedCount = commit.writeResults.count { $0.updateTime == commit.commitTime }
            progress.completedCount += changedCount
            progress.unchangedCount += commit.writeResults.count - changedCount
        }
        for (path, error) in outcome.rejected {
            if [.failedPrecondition, .notFound].contains(error.code) {
                job.update { $0.keptPaths.append(path) }
            } else {
                job.update { [itemError = job.itemError(error, at: path.string)] in $0.itemErrors.append(itemError) }
            }
        }
    }

    /// Changes all documents of a pager.
    func edit(_ documents: DocumentPager) async throws(StatusError) {
        var documents = documents
        while !job.isCancelled, let page = try await documents.next() { try await edit(page.map(SelectedDocument.init)) }
        for error in documents.damaged {
            job.update { [itemError = job.itemError(error, at: error.file?.path ?? error.path ?? "")] in
                $0.itemErrors.append(itemError)
            }
        }
    }
}
