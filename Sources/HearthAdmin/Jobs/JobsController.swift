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
                    try await jobRunner.jobs(for: caller, in: database),
                    busyDatabases: jobRunner.busyDatabases(for: caller, excluding: database),
                    now: request.now
                )
            )
        }
    }

    /// Handles the page of a job and the forms that stop and undo it.
    func show(_ id: UTF8Key) async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            guard let job = try await jobRunner.sharedJob(id, for: context.caller, in: context.databaseName) else {
                return .page(ErrorPage.notFound)
            }
            guard let submission else { return .page(JobPage(job, now: request.now)) }
            guard !submission.isStale else { return .page(JobPage(job, problems: .stale, now: request.now)) }
            if submission.form["do"] == "undo" { return try await undo(job) }
            try await jobRunner.cancel(job)
            return .redirect(to: AdminURL.job(id))
        }
    }

    /// Starts the job that undoes a finished one.
    private func undo(_ job: BackgroundJob) async throws(StatusError) -> FormResult {
        try context.authorize(.writer)
        guard job.canBeUndone else { return .redirect(to: AdminURL.job(job.undo?.id ?? job.id)) }
        do throws(JobRunner.StartError) {
            return try await jobRunner.start(
                .restoring,
                of: job.subject,
                for: request,
                returnURL: job.returnURL,
                totalCount: job.progress.completedCount
            ) { undo in
                .restoredMany(undo.progress.completedCount, undo: undo.undoID)
            } _: { [context] undo throws(StatusError) in
                job.setUndo(undo)
                try await UndoJob(context: context, job: undo, commits: job.commits).run()
            }
        } catch {
            return .page(JobPage(job, problems: error.problems, now: request.now))
        }
    }
}
