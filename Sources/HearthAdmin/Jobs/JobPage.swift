import DocumentModel
import HTTPTypes

/// The progress of a background job, and later its result. The page updates itself while the job is running.
struct JobPage: Page {
    static let template = TemplateLibrary.Name.job

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let problemAlert: ProblemAlert?
    private let heading: String
    private let subject: DisplayText?
    private let completedText: String
    private let progress: JobProgressView?
    /// The sentence about a job of another server.
    private let placeText: String?
    private let isFinished: Bool
    private let isDone: Bool
    private let isCancelled: Bool
    private let failure: DisplayText?
    private let skippedText: String?
    private let unchangedText: String?
    private let unmatchedText: String?
    private let alreadyDeletedText: String?
    private let keptText: String?
    private let keptDocuments: [LinkView]
    private let omittedKeptDocuments: String?
    private let hasCollections: Bool
    /// The collections that documents were imported into.
    private let collections: [LinkView]
    private let hasMoreCollections: Bool
    private let hasItemErrors: Bool
    private let itemErrors: [ItemErrorView]
    private let omittedItemErrors: String?
    private let action: String
    /// True if the job can be undone.
    private let canUndo: Bool
    /// True if the job has undone another one.
    private let isUndo: Bool
    /// The page of the job that has undone this one; `nil` if there is none.
    private let undoURL: String?
    /// The page after the job; `nil` if the collections are listed.
    private let returnLink: LinkView?
    private let jobsURL = AdminURL.jobs

    init(_ job: BackgroundJob, problems: FormProblems = FormProblems(), now: Timestamp) {
        let progress = job.progress
        status = problems.status
        problemAlert = ProblemAlert(problems)
        heading = job.title
        subject = job.subjectText
        completedText =
            if let total = progress.knownTotalCount, !progress.isFinished {
                job.completedText(progress, of: total)
            } else {
                job.completedText(progress)
            }
        self.progress =
            progress.isFinished
            ? nil : JobProgressView(progress.completedCount, of: progress.totalCount, since: job.startTime, now: now)
        placeText = job.placeText
        isFinished = progress.isFinished
        isDone = progress.isFinished && progress.failure == nil
        isCancelled = job.isCancelled
        failure = progress.failure.map { DisplayText($0) }
        skippedText = progress.skippedText
        unchangedText = progress.unchangedText
        unmatchedText = progress.unmatchedText
        alreadyDeletedText = progress.alreadyDeletedText
        keptText = progress.keptText(of: job.kind)
        keptDocuments = progress.keptPaths.elements.map {
            LinkView(url: AdminURL.document($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 80)))
        }
        omittedKeptDocuments = progress.keptPaths.omissionNote
        let listsCollections = progress.isFinished && !progress.collections.isEmpty
        hasCollections = listsCollections
        collections = (listsCollections ? progress.collections : []).sorted().map {
            LinkView(url: AdminURL.collection($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 80)))
        }
        hasMoreCollections = progress.hasMoreCollections
        hasItemErrors = !progress.itemErrors.isEmpty
        itemErrors = progress.itemErrors.elements.map(ItemErrorView.init)
        omittedItemErrors = progress.itemErrors.omissionNote
        action = AdminURL.job(job.id)
        canUndo = job.canBeUndone
        isUndo = job.kind == .restoring
        undoURL = job.undo.map { AdminURL.job($0.id) }
        returnLink =
            progress.isFinished && !listsCollections ? LinkView(url: job.returnURL, text: DisplayText(job.returnText)) : nil
        layout = PageLayout(title: job.subjectText.map { "\(job.title) · \($0.plain)" } ?? job.title)
        layout.refreshes = !progress.isFinished
    }
}

extension BackgroundJob {
    /// Names the page that the finished job leads to.
    fileprivate var returnText: String {
        switch kind {
        case .checking: localized("Continue with the import")
        case .verifying: localized("Backups")
        case .importing, .deleting, .editing, .restoring:
            returnURL.utf8.elementsEqual(AdminURL.overview.utf8) ? localized("To the overview") : localized("Show the documents")
        }
    }
}

extension BackgroundJob.Progress {
    /// The number of documents to process, unless more than that were processed.
    var knownTotalCount: Int? {
        totalCount.flatMap { $0 > 0 && completedCount <= $0 ? $0 : nil }
    }

    fileprivate func keptText(of kind: BackgroundJob.Kind) -> String? {
        guard !keptPaths.isEmpty else { return nil }
        return kind == .restoring
            ? localized(
                count: keptPaths.count,
                one: "{count} document was written since then, and was left as it is:",
                other: "{count} documents were written since then, and were left as they are:"
            )
            : localized(
                count: keptPaths.count,
                one: "{count} document was written after you confirmed, and was kept:",
                other: "{count} documents were written after you confirmed, and were kept:"
            )
    }

    fileprivate var unchangedText: String? {
        guard unchangedCount > 0 else { return nil }
        return localized(
            count: unchangedCount,
            one: "{count} document already was as requested.",
            other: "{count} documents already were as requested."
        )
    }

    fileprivate var skippedText: String? {
        guard skippedCount > 0 else { return nil }
        return localized(
            count: skippedCount,
            one: "{count} document already existed and was left unchanged.",
            other: "{count} documents already existed and were left unchanged."
        )
    }

    fileprivate var alreadyDeletedText: String? {
        guard alreadyDeletedCount > 0 else { return nil }
        return localized(
            count: alreadyDeletedCount,
            one: "{count} document had already been deleted.",
            other: "{count} documents had already been deleted."
        )
    }

    fileprivate var unmatchedText: String? {
        guard unmatchedCount > 0 else { return nil }
        return localized(
            count: unmatchedCount,
            one: "{count} document no longer matches: it was changed or deleted after you confirmed, and was skipped.",
            other: "{count} documents no longer match: they were changed or deleted after you confirmed, and were skipped."
        )
    }
}

/// A document or line that a job could not process.
struct ItemErrorView: ViewModel {
    private let location: DisplayText
    private let message: DisplayText

    init(_ error: BackgroundJob.ItemError) {
        location = DisplayText(error.location)
        message = DisplayText(error.message)
    }
}
