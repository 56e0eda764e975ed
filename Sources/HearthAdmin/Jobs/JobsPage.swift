import DocumentModel

/// The list of running and recently finished jobs.
struct JobsPage: Page {
    static let template = TemplateLibrary.Name.jobs

    fileprivate struct Row: Sendable {
        let job: BackgroundJob
        let progress: BackgroundJob.Progress
        let start: Moment
    }

    var layout = PageLayout(title: localized("Imports and deletions"))
    private let rows: [Row]
    private let busyDatabases: [DatabaseID]

    /// - Parameters:
    ///   - jobs: The jobs in the database that the caller may see, newest first.
    ///   - busyDatabases: The other databases with running jobs.
    init(_ jobs: [BackgroundJob], busyDatabases: [DatabaseID], now: Timestamp) {
        self.busyDatabases = busyDatabases
        let rows = jobs.map { Row(job: $0, progress: $0.progress, start: .init($0.startTime, now: now)) }
        self.rows = rows.filter { !$0.progress.isFinished } + rows.filter(\.progress.isFinished)
        layout.refreshes = rows.contains { !$0.progress.isFinished }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "heading": layout.title
        case "jobs": rows
        case "hasJobs": !rows.isEmpty
        case "action": AdminURL.jobs
        case "limit": NumberFormat.grouped(JobRunner.maximumRunning)
        case "ownLimit": NumberFormat.grouped(JobRunner.maximumRunningPerOwner)
        case "hasBusyDatabases": !busyDatabases.isEmpty
        case "busyDatabases":
            busyDatabases.map { LinkView(url: AdminURL.jobs(in: $0), text: DisplayText($0.description)) }
        case "importURL": AdminURL.import
        default: nil
        }
    }
}

extension JobsPage.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": AdminURL.job(job.id)
        case "title": job.title
        case "subject": job.subjectText.orAbsent
        case "completedText": job.completedText(progress)
        case "state": state
        case "start": start
        default: nil
        }
    }

    private var state: String {
        switch (progress.isFinished, progress.failure) {
        case (false, _): job.isCancelled ? localized("Stopping after the current batch") : localized("In progress")
        case (true, .some): localized("Failed")
        case (true, nil): job.isCancelled ? localized("Stopped") : localized("Done")
        }
    }
}
