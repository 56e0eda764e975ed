import DocumentModel
import HearthAPI
import UTF8Text

/// The controller for background jobs.
struct JobsController {
    let request: AdminRequest
    let jobRunner: JobRunner

    private var context: ServiceContext { request.context }

    /// Handles the list of jobs.
    func list() async -> PageResponse {
        await request.respond { _ throws(StatusError) in
            try context.authorize(.writer)
            let (caller, database) = (context.caller, context.databaseName)
            return .page(
                JobsPage(
                    jobRunner.jobs(for: caller, in: database),
                    busyDatabases: jobRunner.busyDatabases(for: caller, excluding: database),
                    now: request.now
                )
            )
        }
    }

    /// Handles the page of a job and the form that stops it.
    func show(_ id: UTF8Key) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            guard let job = jobRunner.job(id, for: context.caller, in: context.databaseName) else {
                return .page(ErrorPage.notFound)
            }
            guard let submission else { return .page(JobPage(job, now: request.now)) }
            if !submission.isStale { job.cancel() }
            return .redirect(to: AdminURL.job(id))
        }
    }
}
