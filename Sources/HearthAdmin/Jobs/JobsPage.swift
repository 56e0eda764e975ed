import DocumentModel

/// The list of running and recently finished jobs.
struct JobsPage: Page {
    static let template = TemplateLibrary.Name.jobs

    /// A row of the list.
    struct Row: ViewModel {
        private let url: String
        private let title: String
        private let subject: DisplayText?
        private let completedText: String
        private let progress: JobProgressView?
        private let state: String
        private let start: RelativeTimeView
        private let duration: String

        fileprivate init(_ job: BackgroundJob, _ progress: BackgroundJob.Progress, now: Timestamp) {
            url = AdminURL.job(job.id)
            title = job.title
            subject = job.subjectText
            let total = progress.isFinished ? nil : progress.knownTotalCount
            completedText = total.map { job.completedText(progress, of: $0) } ?? job.completedText(progress)
            self.progress = total.flatMap {
                JobProgressView(progress.completedCount, of: $0, since: job.startTime, now: now)
            }
            state =
                switch (progress.isFinished, progress.failure) {
                case (false, _): job.isCancelled ? localized("Stopping after the current batch") : localized("In progress")
                case (true, .some): localized("Failed")
                case (true, nil): job.isCancelled ? localized("Stopped") : localized("Done")
                }
            start = RelativeTimeView(job.startTime, now: now)
            duration = RelativeTime.text(of: job.duration)
        }
    }

    var layout: PageLayout
    private let viewsMarkup = ServerView.jobs.linksMarkup
    private let heading = localized("Background jobs")
    private let action = AdminURL.jobs
    private let hasJobs: Bool
    private let jobs: [Row]
    private let hasBusyDatabases: Bool
    private let busyDatabases: [LinkView]
    private let limit = NumberFormat.grouped(JobRunner.maximumRunning)
    private let ownLimit = NumberFormat.grouped(JobRunner.maximumRunningPerOwner)

    /// - Parameters:
    ///   - jobs: The jobs in the database that the caller may see, newest first.
    ///   - busyDatabases: The other databases with running jobs.
    init(_ jobs: [BackgroundJob], busyDatabases: [DatabaseID], now: Timestamp) {
        let states = jobs.map { (job: $0, progress: $0.progress) }
        let running = states.filter { !$0.progress.isFinished }
        self.jobs = (running + states.filter(\.progress.isFinished)).map { Row($0.job, $0.progress, now: now) }
        hasJobs = !jobs.isEmpty
        hasBusyDatabases = !busyDatabases.isEmpty
        self.busyDatabases = busyDatabases.map {
            LinkView(url: AdminURL.jobs(in: $0), text: DisplayText($0.description))
        }
        layout = PageLayout(title: heading, section: .activity)
        layout.refreshes = !running.isEmpty
    }
}
