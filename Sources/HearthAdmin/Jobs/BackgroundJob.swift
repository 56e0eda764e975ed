import Concurrency
import DocumentModel
import DocumentStore
import HearthAPI
import Synchronization
import UTF8Text

/// An import, a deletion, another change of many documents, or the verification of a backup, which outlives the request that started it
/// and reports its progress.
final class BackgroundJob: Sendable {
    enum Kind: String, Sendable {
        case deleting
        case editing
        case restoring
        case checking
        case importing
        case verifying
    }

    /// The progress of a job so far, or its outcome.
    struct Progress: Sendable {
        /// The number of documents that have been processed successfully.
        var completedCount = 0
        /// The number of documents to process; `nil` if it is unknown.
        var totalCount: Int?
        /// Documents and lines that could not be processed.
        var itemErrors = TruncatedList<ItemError>(limit: maximumListedItems)
        /// Documents that were written after the change was confirmed, or after the change to undo, and therefore kept.
        var keptPaths = TruncatedList<DocumentPath>(limit: maximumListedItems)
        /// The number of documents that already existed and were skipped.
        var skippedCount = 0
        /// The number of documents that another client had already deleted.
        var alreadyDeletedCount = 0
        /// The number of documents that were as an edit makes them.
        var unchangedCount = 0
        /// The number of confirmed documents that no longer match the filters.
        var unmatchedCount = 0
        /// The collections that documents were imported into, in the order of the file.
        private(set) var collections: [CollectionPath] = []
        /// True if documents were imported into more collections than listed.
        var hasMoreCollections = false
        var isFinished = false
        /// The error that ended the job early; `nil` for a job that was completed or cancelled by a user.
        var failure: String?

        static let maximumListedItems = 200
        private static let maximumListedCollections = 50

        /// Counts the confirmed documents that are not accounted for by any other counter.
        mutating func countUnmatched(ofConfirmed confirmedCount: Int) {
            // The confirmed count comes from a form and can be any number.
            let accountedCount = completedCount + unchangedCount + keptPaths.count + alreadyDeletedCount + itemErrors.count
            unmatchedCount = confirmedCount > accountedCount ? confirmedCount - accountedCount : 0
        }

        /// Adds the collection of an imported document.
        mutating func addCollection(_ path: CollectionPath) {
            guard path != collections.last, !collections.contains(path) else { return }
            if collections.count < Self.maximumListedCollections { collections.append(path) } else { hasMoreCollections = true }
        }

        /// Forgets what could not be processed.
        mutating func removeItemErrors() {
            itemErrors = TruncatedList(limit: Self.maximumListedItems)
        }

        /// True if the job was completed without exceptions, so that its result is one number.
        var isFullySuccessful: Bool {
            isFinished && failure == nil && itemErrors.isEmpty && keptPaths.isEmpty
                && alreadyDeletedCount + unmatchedCount + skippedCount + unchangedCount == 0
        }
    }

    /// A document or line that could not be processed.
    struct ItemError: Sendable {
        /// The path of the document or file, or the location in the imported file.
        let location: String
        let message: String
    }

    let id: UTF8Key
    let kind: Kind
    /// The path of a collection or document, or the name of a file.
    let subject: String
    let database: DatabaseID
    /// The identity of the caller who started the job. Only this caller and admins can see and stop it.
    let identity: Caller.Identity
    /// The owner whose share of concurrent jobs it counts against: ``Principal/jobQuotaOwner``.
    let owner: UTF8Key
    /// The URL that the page of the finished job links to, unless documents were imported.
    let returnURL: String
    let startTime: Timestamp
    /// True for a job that is known by reports alone: of another server of the engine, or of this one before it was restarted.
    let isReported: Bool
    private let errors: PageErrorLog
    private let startInstant = ContinuousClock.now
    private let state = Mutex(State())
    private let completion = SharedOutcome<Void>()

    private struct State {
        var progress = Progress()
        var cancellation: Cancellation?
        var commits: [JobCommit] = []
        var undo: BackgroundJob?
        /// The duration of a finished job.
        var duration: Duration?
    }

    private enum Cancellation {
        case requested
        case serverShutdown
    }

    init(
        _ kind: Kind,
        of subject: String,
        in database: DatabaseID,
        id: UTF8Key,
        identity: Caller.Identity,
        owner: UTF8Key = "",
        returnURL: String,
        at startTime: Timestamp,
        isReported: Bool,
        errors: PageErrorLog
    ) {
        (self.kind, self.subject, self.database, self.id) = (kind, subject, database, id)
        (self.identity, self.owner) = (identity, owner)
        (self.returnURL, self.startTime, self.isReported) = (returnURL, startTime, isReported)
        self.errors = errors
    }

    convenience init(
        _ kind: Kind,
        of subject: String,
        in database: DatabaseID,
        id: UTF8Key,
        for principal: Principal,
        returnURL: String,
        at startTime: Timestamp,
        errors: PageErrorLog
    ) {
        self.init(
            kind,
            of: subject,
            in: database,
            id: id,
            identity: principal.caller.identity,
            owner: principal.jobQuotaOwner,
            returnURL: returnURL,
            at: startTime,
            isReported: false,
            errors: errors
        )
    }

    /// Sets what another server has reported.
    func set(_ progress: Progress, isCancelled: Bool, duration: Duration) {
        state.withLock { state in
            state.progress = progress
            state.cancellation = isCancelled ? .requested : nil
            state.duration = duration
        }
    }

    var progress: Progress { state.withLock(\.progress) }

    /// The time that the job took, or has taken so far.
    var duration: Duration { state.withLock(\.duration) ?? startInstant.duration(to: .now) }

    func update(_ change: (inout Progress) -> Void) {
        state.withLock { change(&$0.progress) }
    }

    /// Records a commit together with the progress that it makes.
    func record(_ commit: CommitResult, _ change: (inout Progress) -> Void) {
        state.withLock { state in
            // A commit that changed nothing has no number.
            if let sequence = commit.sequence { state.commits.append(JobCommit(sequence: sequence, time: commit.commitTime)) }
            change(&state.progress)
        }
    }

    /// The recorded commits, in order.
    var commits: [JobCommit] { state.withLock(\.commits) }

    /// The job that undoes this one, or has undone it; `nil` for none, or for one that did not get to its end.
    var undo: BackgroundJob? {
        state.withLock(\.undo).flatMap { undo in
            let progress = undo.progress
            return progress.isFinished && (progress.failure != nil || undo.isCancelled) ? nil : undo
        }
    }

    /// True if the job has finished with changes that can be undone as a whole.
    var canBeUndone: Bool {
        state.withLock { $0.progress.isFinished && !$0.commits.isEmpty } && undo == nil
    }

    /// The page that shows the result of the finished job: the collection that documents were imported into, the page of the job if there
    /// are several, otherwise ``returnURL``.
    var resultURL: String {
        let collections = progress.collections
        return switch collections.count {
        case 0: returnURL
        case 1: AdminURL.collection(collections[0])
        default: AdminURL.job(id)
        }
    }

    /// The ID with which a button undoes the job; `nil` if there is nothing to undo.
    var undoID: UTF8Key? { canBeUndone ? id : nil }

    /// Names the job that undoes this one.
    func setUndo(_ job: BackgroundJob) {
        state.withLock { $0.undo = job }
    }

    /// Returns the error of a document or line, as pages show it: an internal one is logged, and its message is not shown.
    ///
    /// - Parameter location: The path of the document or file, or the location in the imported file.
    func itemError(_ error: StatusError, at location: String) -> ItemError {
        ItemError(location: location, message: errors.presentableItem(error).formMessage)
    }

    /// Requests cancellation, unless the job has finished. The body of the job checks ``isCancelled`` between batches.
    func cancel() {
        state.withLock { state in
            if !state.progress.isFinished { state.cancellation = state.cancellation ?? .requested }
        }
    }

    /// Requests cancellation because the server is shutting down; the job then reports that as its failure.
    func cancelForShutdown() {
        state.withLock { $0.cancellation = .serverShutdown }
    }

    var isCancelled: Bool { state.withLock { $0.cancellation != nil } }

    /// Runs the body of the job, and records how it ended.
    func run(_ body: () async throws(StatusError) -> Void) async {
        do throws(StatusError) {
            try await body()
        } catch {
            update { $0.failure = error.formMessage }
        }
        state.withLock { state in
            if state.cancellation == .serverShutdown {
                state.progress.failure = localized("The server shut down. Changes made so far are kept.")
            }
            state.progress.isFinished = true
            state.duration = startInstant.duration(to: .now)
        }
        completion.end(with: ())
    }

    /// Waits until the job has finished or the duration has elapsed.
    func wait(atMost duration: Duration) async {
        await completion.value(within: duration)
    }
}

extension BackgroundJob {
    /// The sentence about a job of another server; `nil` for one of this server.
    var placeText: String? {
        guard isReported else { return nil }
        return progress.isFinished
            ? localized("The job ran on another server, or before this one was restarted.")
            : localized("The job runs on another server.")
    }

    /// The name of the operation in the language of the page.
    var title: String {
        switch kind {
        case .deleting: localized("Deleting")
        case .editing: localized("Editing")
        case .restoring: localized("Undoing")
        case .checking: localized("Checking")
        case .importing: localized("Importing")
        case .verifying: localized("Verifying a backup")
        }
    }

    /// The subject as pages show it; `nil` if it is empty, as the name of an uploaded file can be.
    var subjectText: DisplayText? {
        subject.utf8.isEmpty ? nil : DisplayText(subject.truncatingMiddle(toScalars: 80))
    }

    /// The number of processed documents of all, in words.
    func completedText(_ progress: Progress, of total: Int) -> String {
        let counts: KeyValuePairs<StaticString, String> = [
            "done": NumberFormat.grouped(progress.completedCount), "total": NumberFormat.grouped(total),
        ]
        return kind == .verifying
            ? localized("{done} of {total} files", counts) : localized("{done} of {total} documents", counts)
    }

    /// The number of processed documents in words.
    func completedText(_ progress: Progress) -> String {
        let count = progress.completedCount
        return switch kind {
        case .deleting: localized(count: count, one: "{count} document deleted", other: "{count} documents deleted")
        case .editing: localized(count: count, one: "{count} document changed", other: "{count} documents changed")
        case .restoring: localized(count: count, one: "{count} document restored", other: "{count} documents restored")
        case .checking: localized(count: count, one: "{count} document read", other: "{count} documents read")
        case .importing: localized(count: count, one: "{count} document imported", other: "{count} documents imported")
        case .verifying: localized(count: count, one: "{count} file read", other: "{count} files read")
        }
    }
}
