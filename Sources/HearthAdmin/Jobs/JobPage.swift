import DocumentModel

/// The progress of a background job, later its result. The page reloads while the job is running.
struct JobPage: Page {
    static let template = TemplateLibrary.Name.job

    var layout: PageLayout
    private let job: BackgroundJob
    private let progress: BackgroundJob.Progress

    init(_ job: BackgroundJob) {
        self.job = job
        progress = job.progress
        layout = PageLayout(title: job.subjectText.map { "\(job.title) · \($0.plain)" } ?? job.title)
        layout.refreshes = !progress.isFinished
    }

    func content(named name: String) -> Any? {
        switch name {
        case "heading": job.title
        case "subject": job.subjectText.orAbsent
        case "isFinished": progress.isFinished
        case "isDone": progress.isFinished && progress.failure == nil
        case "isCancelled": job.isCancelled
        case "failure": progress.failure.map { DisplayText($0) }.orAbsent
        case "completedText": job.completedText(progress)
        case "completedCount": progress.completedCount
        case "totalCount": progress.totalCount.orAbsent
        case "itemErrors": progress.itemErrors.elements.map(ItemErrorView.init)
        case "hasItemErrors": !progress.itemErrors.isEmpty
        case "omittedItemErrors": progress.itemErrors.omissionNote.orAbsent
        case "keptText": keptText.orAbsent
        case "keptDocuments":
            progress.keptPaths.elements.map {
                LinkView(url: AdminURL.document($0), text: DisplayText($0.string.truncatingMiddle(toScalars: 80)))
            }
        case "omittedKeptDocuments": progress.keptPaths.omissionNote.orAbsent
        case "skippedText": skippedText.orAbsent
        case "alreadyDeletedText": alreadyDeletedText.orAbsent
        case "unmatchedText": unmatchedText.orAbsent
        case "returnURL": job.returnURL
        case "action": AdminURL.job(job.id)
        case "jobsURL": AdminURL.jobs
        default: nil
        }
    }

    private var keptText: String? {
        guard !progress.keptPaths.isEmpty else { return nil }
        return localized(
            count: progress.keptPaths.count,
            one: "{count} document was written after you confirmed, and was kept:",
            other: "{count} documents were written after you confirmed, and were kept:"
        )
    }

    private var skippedText: String? {
        guard progress.skippedCount > 0 else { return nil }
        return localized(
            count: progress.skippedCount,
            one: "{count} document already existed and was left unchanged.",
            other: "{count} documents already existed and were left unchanged."
        )
    }

    private var alreadyDeletedText: String? {
        guard progress.alreadyDeletedCount > 0 else { return nil }
        return localized(
            count: progress.alreadyDeletedCount,
            one: "{count} document had already been deleted.",
            other: "{count} documents had already been deleted."
        )
    }

    private var unmatchedText: String? {
        guard progress.unmatchedCount > 0 else { return nil }
        return localized(
            count: progress.unmatchedCount,
            one: "{count} document no longer matches: it was changed or deleted after you confirmed, and was skipped.",
            other: "{count} documents no longer match: they were changed or deleted after you confirmed, and were skipped."
        )
    }
}

/// A document or line that a job could not process.
struct ItemErrorView: Sendable {
    private let location: DisplayText
    private let message: DisplayText

    init(_ error: BackgroundJob.ItemError) {
        location = DisplayText(error.location)
        message = DisplayText(error.message)
    }
}

extension ItemErrorView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "location": location
        case "message": message
        default: nil
        }
    }
}
