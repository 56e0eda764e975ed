import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The controller for the backups of all databases.
struct BackupsController {
    let request: AdminRequest
    let jobRunner: JobRunner

    private var context: ServiceContext { request.context }

    /// Handles the list of backups, and the forms that make and verify one.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorizeServerView()
            guard context.hasBackupFolder else { return .page(BackupsPage(nil, now: request.now)) }
            let result = try await ListBackups.call((), in: context)
            let list = BackupList(backups: result.backups, status: result.status, verifications: result.verifications)
            guard let submission else { return .page(BackupsPage(list, now: request.now)) }
            guard !submission.isStale else { return .page(BackupsPage(list, problems: .stale, now: request.now)) }
            guard let name = submission.form["verify"] else { return try await create(submission.form, list) }
            return try await verify(name.string, list)
        }
    }

    private func create(_ form: Form, _ list: BackupList) async throws(StatusError) -> FormResult {
        do throws(StatusError) {
            _ = try await CreateBackup.call(form.has("keys"), in: context)
            return .redirect(to: AdminURL.backups, flash: .backupStarted)
        } catch {
            guard error.code == .failedPrecondition else { throw error }
            var problems = FormProblems()
            problems.add(error.message)
            return .page(BackupsPage(list, problems: problems, now: request.now))
        }
    }

    /// Starts a job that compares all files of a backup with their digests.
    private func verify(_ name: String, _ list: BackupList) async throws(StatusError) -> FormResult {
        guard let backup = list.backups.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            var problems = FormProblems()
            problems.add(localized("This backup doesn’t exist any more."))
            return .page(BackupsPage(list, problems: problems, now: request.now))
        }
        do throws(JobRunner.StartError) {
            let flash: (BackgroundJob) -> Flash? = { _ in .backupVerified }
            return try await jobRunner.start(
                .verifying,
                of: name,
                for: request,
                returnURL: AdminURL.backups,
                totalCount: backup.fileCount,
                flash: flash
            ) { [context] job throws(StatusError) in
                try await Self.verify(name, in: context, job)
            }
        } catch {
            return .page(BackupsPage(list, problems: error.problems, now: request.now))
        }
    }
}

extension BackupsController {
    private static func verify(_ name: String, in context: ServiceContext, _ job: BackgroundJob) async throws(StatusError) {
        do throws(StatusError) {
            try await VerifyBackup.run(name, in: context) { () throws(StatusError) in
                job.update { $0.completedCount += 1 }
                if job.isCancelled { throw StatusError(.cancelled, "The verification was stopped.") }
            } onFault: { fault in
                let error = job.itemError(fault, at: fault.file?.path ?? name)
                job.update { $0.itemErrors.append(error) }
            }
        } catch {
            if error.code == .cancelled, job.isCancelled { return }
            // The files are missing because the backup was removed.
            if error.code == .notFound { job.update { $0.removeItemErrors() } }
            throw error
        }
    }
}

extension ServiceContext {
    /// True if the server has a folder for backups.
    var hasBackupFolder: Bool { (try? databases?.backups) != nil }
}
