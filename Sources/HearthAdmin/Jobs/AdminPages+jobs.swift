import DocumentModel
import HearthAPI
import StrictJSON

extension AdminPages {
    /// Handles the list of jobs.
    func jobs(for request: PageRequest) async -> PageResponse {
        await respond(to: request) { _ throws(StatusError) in
            try context.authorize(.writer)
            let (caller, database) = (context.caller, context.databaseName)
            return .page(
                JobsPage(
                    jobRunner.jobs(for: caller, in: database),
                    busyDatabases: jobRunner.busyDatabases(for: caller, besides: database),
                    now: dependencies.now()
                )
            )
        }
    }

    /// Handles the page of a job and the form that stops it.
    func job(_ id: UTF8Key, for request: PageRequest) async -> PageResponse {
        await respond(to: request) { submission throws(StatusError) in
            guard let job = jobRunner.job(id, for: context.caller, in: context.databaseName) else {
                return .page(ErrorPage.notFound)
            }
            guard let submission else { return .page(JobPage(job)) }
            if !submission.isStale { job.cancel() }
            return .redirect(to: AdminURL.job(id))
        }
    }

    /// Starts a job and waits a short time for it to finish.
    ///
    /// - Parameters:
    ///   - subject: The path or file name that pages show as the job's subject.
    ///   - flash: The message to show when the job has finished in time and without exceptions.
    /// - Returns: A redirect to `returnURL` when the job has finished in time and without exceptions, else to the job's page.
    func startJob(
        _ kind: BackgroundJob.Kind,
        of subject: String,
        id: UTF8Key = UTF8Key(RandomToken.make()),
        returnURL: String,
        totalCount: Int? = nil,
        flash: (BackgroundJob.Progress) -> Flash?,
        _ body: @escaping @Sendable (BackgroundJob) async throws(StatusError) -> Void
    ) async throws(JobRunner.StartError) -> FormResult {
        let job = BackgroundJob(
            kind,
            of: subject,
            in: context.databaseName,
            id: id,
            for: scope.principal,
            returnURL: returnURL,
            at: dependencies.now()
        )
        job.update { $0.totalCount = totalCount }
        try jobRunner.start(job, body)
        await job.wait(atMost: dependencies.jobWaitTime)
        let progress = job.progress
        return progress.isUneventful ? .redirect(to: returnURL, flash: flash(progress)) : .redirect(to: AdminURL.job(job.id))
    }
}
