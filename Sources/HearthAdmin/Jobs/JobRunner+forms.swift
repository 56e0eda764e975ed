import DocumentModel
import HearthAPI
import UTF8Text

extension JobRunner {
    /// Starts a job and waits up to ``waitTime`` for it to finish.
    ///
    /// - Parameters:
    ///   - subject: The path or file name that pages show as the job's subject.
    ///   - flash: The message to show when the job has finished in time and without exceptions.
    /// - Returns: A redirect to the result if the job has finished in time, without exceptions and without having been stopped, otherwise
    ///   to the job's page.
    func start(
        _ kind: BackgroundJob.Kind,
        of subject: String,
        id: UTF8Key = UTF8Key(RandomToken.make()),
        for request: AdminRequest,
        returnURL: String,
        totalCount: Int? = nil,
        flash: (BackgroundJob) -> Flash?,
        _ body: @escaping @Sendable (BackgroundJob) async throws(StatusError) -> Void
    ) async throws(JobRunner.StartError) -> FormResult {
        let job = BackgroundJob(
            kind,
            of: subject,
            in: request.context.databaseName,
            id: id,
            for: request.principal,
            returnURL: returnURL,
            at: request.now,
            errors: request.environment.errors
        )
        job.update { $0.totalCount = totalCount }
        try start(job, body)
        if let action = kind.auditAction { await request.context.audit(action, on: subject, detail: "started") }
        await job.wait(atMost: waitTime)
        let isComplete = job.progress.isFullySuccessful && !job.isCancelled
        guard isComplete else { return .redirect(to: AdminURL.job(job.id)) }
        return .redirect(to: job.resultURL, flash: flash(job))
    }
}

extension BackgroundJob.Kind {
    /// The job in the audit log; `nil` for one that changes nothing.
    fileprivate var auditAction: AuditEvent.Action? {
        switch self {
        case .deleting: .deleteDocuments
        case .editing: .editDocuments
        case .restoring: .undoJob
        case .importing: .importDocuments
        case .checking, .verifying: nil
        }
    }
}
