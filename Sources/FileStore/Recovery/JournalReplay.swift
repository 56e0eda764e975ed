internal import Dispatch
internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import StorageIO
internal import Synchronization

/// Replays the journal: brings the document files to their last committed state, on several threads.
///
/// A file is rewritten even when it looks intact, because the file system may show contents that never reached the disk. Only a
/// file that was edited, or is newer than the journal, is kept. Replaying is idempotent.
struct JournalReplay {
    /// The number of replayed commits.
    private(set) var commitCount = 0
    /// The number of files written or removed.
    private(set) var documentCount = 0
    /// The documents whose files cannot be written, with the errors.
    private(set) var unwritable: [(path: DocumentPath, state: CommittedState, error: StatusError)] = []
    /// True if a temporary file could not be removed.
    private(set) var hasLeftoverTemporaryFile = false

    private var states: [DocumentPath: CommittedState] = [:]
    /// The last commit that another server has made, as the primary of a standby.
    private let replicatedThrough: SequenceNumber

    /// The number of threads: more than processors, since a thread that waits for the disk needs none.
    private static let threadCount = 4
    /// The number of documents from which on the beginning of the work is logged.
    private static let loggedDocumentCount = 1_000

    /// Creates a replay that begins with the documents quarantined by an earlier start.
    ///
    /// - Parameter replicatedThrough: The last commit that another server has made.
    init(_ quarantined: [QuarantinedDocument], replicatedThrough: SequenceNumber) {
        self.replicatedThrough = replicatedThrough
        for document in quarantined {
            // The permissions of a file that could not be written may have been changed since.
            var state = CommittedState(document: document.image, time: document.time, ignoresChangeTime: !document.keepsText)
            if !document.keepsText { state.replaced.insertUnknown() }
            states[document.path] = state
        }
    }

    /// True if so many documents have to be restored that each step is logged.
    var isLong: Bool { max(states.count, documentCount) >= Self.loggedDocumentCount }

    /// Adds the next commit of the journal.
    mutating func add(_ commit: Commit) {
        commitCount += 1
        // The time of a commit that another server has made is of another clock than those of files.
        let ignoresChangeTime = commit.sequence <= replicatedThrough
        for change in commit.changes {
            guard let index = states.index(forKey: change.path) else {
                var state = CommittedState(document: change.after, time: commit.time, ignoresChangeTime: ignoresChangeTime)
                if let before = change.before {
                    state.replaced.insert(before)
                } else if change.existedBefore {
                    state.replaced.insertUnknown()
                }
                states[change.path] = state
                continue
            }
            // In place, since there may be many versions.
            if let replaced = states.values[index].document { states.values[index].replaced.insert(replaced) }
            states.values[index].document = change.after
            states.values[index].time = commit.time
            states.values[index].ignoresChangeTime = ignoresChangeTime
        }
    }

    /// Writes and removes the files, and logs the progress.
    ///
    /// - Parameters:
    ///   - data: The folder, whose reserve is used on a full disk.
    ///   - makeWriter: Creates a writer of files for each thread.
    ///   - progressInterval: The time between two log entries about the progress.
    /// - Throws: An error that affects more than one file. A document whose file alone cannot be written is added to
    ///   ``unwritable``.
    mutating func run(
        in data: DataFolder,
        progressInterval: Duration,
        logger: Logger,
        _ makeWriter: @escaping @Sendable () -> DocumentFileWriter
    ) throws(StatusError) {
        // In the order of their folders, of which a writer keeps only some open.
        let queue = ReplayQueue(states.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, in: data)
        states = [:]
        guard queue.count > 0 else { return }
        if queue.count >= Self.loggedDocumentCount {
            logger.info(
                "The store was not closed; restoring the documents of the commits after the last checkpoint",
                metadata: ["recovery.commits": "\(commitCount)", "recovery.documents": "\(queue.count)"]
            )
        }
        var fileWriter = makeWriter()
        fileWriter.createFoldersWithStoredID(of: queue.createdCollections)
        let group = DispatchGroup()
        for number in 0..<min(Self.threadCount, queue.count) {
            DispatchQueue(label: "hearth.recovery.\(number)").async(group: group) {
                queue.drain(makeWriter(), logger: logger)
            }
        }
        let milliseconds = max(1, Int(progressInterval / .milliseconds(1)))
        while group.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut {
            logger.info(
                "Restoring documents",
                metadata: ["recovery.restored_documents": "\(queue.progress)", "recovery.documents": "\(queue.count)"]
            )
        }
        let result = queue.result
        fileWriter.removeEmptyFolders(of: result.emptied)
        fileWriter.endBatch()
        if let error = result.error { throw error }
        documentCount = result.documentCount
        unwritable = result.unwritable
        hasLeftoverTemporaryFile = result.hasLeftoverTemporaryFile || fileWriter.hasLeftoverTemporaryFile
    }
}

/// The documents to be restored, which several threads share.
private final class ReplayQueue: Sendable {
    struct Result {
        var documentCount = 0
        var unwritable: [(path: DocumentPath, state: CommittedState, error: StatusError)] = []
        /// The collections from which documents were removed.
        var emptied: Set<CollectionPath> = []
        var hasLeftoverTemporaryFile = false
        /// The first error that affects more than one file.
        var error: StatusError?
    }

    private struct State {
        /// The index of the next document.
        var next = 0
        /// The number of processed documents.
        var progress = 0
        var result = Result()
    }

    private let documents: [(path: DocumentPath, state: CommittedState)]
    private let data: DataFolder
    private let state = Mutex(State())

    /// The number of documents that a thread takes at a time.
    private static let batchCount = 64

    init(_ documents: [(path: DocumentPath, state: CommittedState)], in data: DataFolder) {
        self.documents = documents
        self.data = data
    }

    var count: Int { documents.count }

    /// The number of processed documents.
    var progress: Int { state.withLock { $0.progress } }

    /// The result, after all threads have ended.
    var result: Result { state.withLock { $0.result } }

    /// The collections of the documents that exist.
    var createdCollections: Set<CollectionPath> {
        Set(documents.lazy.filter { $0.state.document != nil }.map(\.path.collection))
    }

    /// Restores documents until none is left, or until an error affects more than one file.
    func drain(_ fileWriter: consuming DocumentFileWriter, logger: Logger) {
        while let batch = nextBatch() {
            var result = Result()
            for (path, state) in documents[batch] {
                restore(path, state, with: &fileWriter, &result, logger: logger)
                if result.error != nil { break }
            }
            state.withLock { state in
                state.progress += batch.count
                state.result.documentCount += result.documentCount
                state.result.unwritable += result.unwritable
                state.result.emptied.formUnion(result.emptied)
                state.result.error = state.result.error ?? result.error
            }
        }
        if fileWriter.hasLeftoverTemporaryFile { state.withLock { $0.result.hasLeftoverTemporaryFile = true } }
    }

    private func nextBatch() -> Range<Int>? {
        state.withLock { state in
            guard state.next < documents.count, state.result.error == nil else { return nil }
            let batch = state.next..<min(documents.count, state.next + Self.batchCount)
            state.next = batch.upperBound
            return batch
        }
    }

    private func restore(
        _ path: DocumentPath,
        _ committed: CommittedState,
        with fileWriter: inout DocumentFileWriter,
        _ result: inout Result,
        logger: Logger
    ) {
        do throws(StatusError) {
            let isChanged = try data.usingReserve { () throws(StatusError) in
                try fileWriter.restore(path, to: committed, logger: logger)
            }
            guard isChanged else { return }
            if committed.document == nil { result.emptied.insert(path.collection) }
            result.documentCount += 1
        } catch {
            if error.preventsSingleFileAccess {
                result.unwritable.append((path, committed, error))
            } else {
                result.error = error
            }
        }
    }
}
