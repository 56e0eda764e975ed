import DocumentModel
import DocumentStore
import HearthAPI

/// A commit that a background job has made, from which its changes can be read and undone.
struct JobCommit: Hashable, Sendable {
    let sequence: SequenceNumber
    let time: Timestamp
}

/// A writer of the changes of a background job: few commits with many writes, which the job records, so that it can be undone.
///
/// A commit of many writes costs about as much as one of a single write, whose time is that of a disk sync.
struct JobWriter: Sendable {
    let context: ServiceContext
    let job: BackgroundJob

    /// The write of a document.
    struct Item: Sendable {
        let write: Write
        /// The approximate size of the images of the document in the journal.
        let byteCount: Int
    }

    /// The outcome of writes.
    struct Outcome: Sendable {
        /// The writes that were committed.
        fileprivate(set) var written: [(path: DocumentPath, result: WriteResult)] = []
        /// The writes that were rejected on their own.
        fileprivate(set) var rejected: [(path: DocumentPath, error: StatusError)] = []
    }

    /// The size of a document about which nothing is known.
    static let unknownByteCount = maximumCommitBytes / 32

    private static let maximumCommitCount = 500
    private static let maximumCommitBytes = 4 << 20

    /// Commits writes to different documents, until the job is cancelled.
    ///
    /// A commit that is rejected because of one of its documents is bisected, so that the others are written.
    ///
    /// - Parameter progress: Changes the progress of the job after each commit, according to what it has written.
    /// - Throws: An error that prevents all subsequent writes.
    func commit(
        _ items: [Item],
        progress: (inout BackgroundJob.Progress, CommitResult) -> Void
    ) async throws(StatusError) -> Outcome {
        var outcome = Outcome()
        var start = items.startIndex
        while start < items.endIndex, !job.isCancelled {
            // The key may have been revoked since the last commit.
            try context.authorize(.writer)
            var (end, bytes) = (start, 0)
            while end < items.endIndex, end - start < Self.maximumCommitCount,
                end == start || bytes + items[end].byteCount <= Self.maximumCommitBytes
            {
                bytes += items[end].byteCount
                end += 1
            }
            try await commit(items[start..<end], &outcome, progress)
            start = end
        }
        return outcome
    }

    private func commit(
        _ items: ArraySlice<Item>,
        _ outcome: inout Outcome,
        _ progress: (inout BackgroundJob.Progress, CommitResult) -> Void
    ) async throws(StatusError) {
        do throws(StatusError) {
            let result = try await CommitWrites.call(.init(writes: items.map(\.write)), in: context)
            outcome.written += zip(items, result.writeResults).map { ($0.write.path, $1) }
            job.record(result) { progress(&$0, result) }
        } catch {
            guard error.isDocumentError else { throw error }
            guard items.count > 1 else {
                outcome.rejected += items.map { ($0.write.path, error) }
                return
            }
            let middle = items.startIndex + items.count / 2
            try await commit(items[..<middle], &outcome, progress)
            try await commit(items[middle...], &outcome, progress)
        }
    }
}
