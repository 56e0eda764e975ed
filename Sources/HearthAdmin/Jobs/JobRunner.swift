import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import Logging
import Synchronization
import UTF8Text

/// Runs background jobs on their own threads, and keeps finished ones for their result pages.
final class JobRunner: Sendable {
    private struct State {
        var jobs: [BackgroundJob] = []
        var tasks: [UTF8Key: Task<Void, Never>] = [:]
        /// The ends of the reports of jobs to other servers.
        var reports: [UTF8Key: SharedOutcome<Void>] = [:]
        var isShutDown = false
    }

    private let state = Mutex(State())
    /// The jobs of all servers of an engine; `nil` with a data folder.
    private let shared: SharedJobs?
    private let logger: Logger
    /// The time to wait for the job that a form started, before the response redirects to the job's page.
    let waitTime: Duration
    /// Jobs do heavy I/O; on separate threads, they do not delay the tasks on the shared pool.
    private let threads = ThreadPoolExecutor("hearth.jobs", count: maximumRunning)

    /// The maximum number of jobs that are kept, running or finished.
    private static let maximumKept = 100
    /// The maximum number of concurrent jobs in all databases.
    static let maximumRunning = 4
    /// The maximum number of concurrent jobs of one owner, so that one owner cannot block all others.
    static let maximumRunningPerOwner = 2

    /// The time that the shutdown waits for the last report of a job.
    private static let maximumReportTime = Duration.seconds(2)

    /// The reason why a job cannot be started.
    enum StartError: Error {
        case shuttingDown
        case tooManyJobs
        case tooManyJobsForOwner
    }

    init(logger: Logger, shared: SharedJobs? = nil, waitTime: Duration = .seconds(2)) {
        self.logger = logger
        self.shared = shared
        self.waitTime = waitTime
    }

    /// Starts a job in an unstructured task, which outlives the request.
    func start(
        _ job: BackgroundJob,
        _ body: @escaping @Sendable (BackgroundJob) async throws(StatusError) -> Void
    ) throws(StartError) {
        let error: StartError? = state.withLock { state in
            guard !state.isShutDown else { return .shuttingDown }
            // The task of a finished job may not have ended yet; such a job does not count.
            let running = state.jobs.filter { !$0.progress.isFinished }
            // Checks the owner's limit first, since the owner can stop one of those jobs.
            guard running.count(where: { $0.owner == job.owner }) < Self.maximumRunningPerOwner else {
                return .tooManyJobsForOwner
            }
            guard running.count < Self.maximumRunning else { return .tooManyJobs }
            state.jobs.append(job)
            if state.jobs.count > Self.maximumKept, let oldest = state.jobs.firstIndex(where: { $0.progress.isFinished }) {
                state.jobs.remove(at: oldest)
            }
            let errors = PageErrorLog(logger: logger)
            state.tasks[job.id] = Task(executorPreference: threads) { [weak self] in
                await job.run { () async throws(StatusError) in
                    do throws(StatusError) {
                        try await body(job)
                    } catch {
                        throw errors.presentable(error)
                    }
                }
                self?.removeTask(of: job)
            }
            if let shared {
                // Beside the job, which does not wait for a silent engine.
                let reports = SharedOutcome<Void>()
                state.reports[job.id] = reports
                Task.detached { [weak self] in
                    await shared.keepReporting(job)
                    reports.end(with: ())
                    self?.removeReports(of: job)
                }
            }
            return nil
        }
        if let error { throw error }
    }

    /// Returns a job of this server in a database by its ID; `nil` if the caller may not see it.
    func job(_ id: UTF8Key, for caller: Caller, in database: DatabaseID) -> BackgroundJob? {
        jobs(for: caller).first { $0.id == id && $0.database == database }
    }

    /// Returns a job of any server in a database by its ID; `nil` if the caller may not see it.
    func sharedJob(_ id: UTF8Key, for caller: Caller, in database: DatabaseID) async throws(StatusError) -> BackgroundJob? {
        if let job = job(id, for: caller, in: database) { return job }
        return try await jobs(for: caller, in: database).first { $0.id == id }
    }

    /// Returns the jobs of all servers in a database that the caller may see, newest first.
    func jobs(for caller: Caller, in database: DatabaseID) async throws(StatusError) -> [BackgroundJob] {
        let own = jobs(for: caller).filter { $0.database == database }
        guard let shared else { return own }
        let known = Set(own.map(\.id))
        let others = try await shared.jobs(PageErrorLog(logger: logger)).filter {
            !known.contains($0.id) && $0.database == database && $0.isVisible(to: caller)
        }
        return (own + others).sorted { $0.startTime > $1.startTime }
    }

    /// Stops a job after its current batch.
    func cancel(_ job: BackgroundJob) async throws(StatusError) {
        if job.isReported { try await shared?.cancel(job.id) } else { job.cancel() }
    }

    /// Returns the other databases with running jobs that the caller may see. They count against the same limits.
    func busyDatabases(for caller: Caller, excluding database: DatabaseID) -> [DatabaseID] {
        var known: Set = [database]
        return jobs(for: caller).filter { !$0.progress.isFinished }.map(\.database).filter { known.insert($0).inserted }
    }

    private func jobs(for caller: Caller) -> [BackgroundJob] {
        state.withLock { $0.jobs }.filter { $0.isVisible(to: caller) }.reversed()
    }

    /// Rejects new jobs, cancels the running ones and waits for them; each finishes its current batch.
    func shutDown() async {
        let (jobs, tasks) = state.withLock { state in
            state.isShutDown = true
            return (state.jobs.filter { !$0.progress.isFinished }, Array(state.tasks.values))
        }
        for job in jobs { job.cancelForShutdown() }
        for task in tasks { await task.value }
        for reports in state.withLock({ Array($0.reports.values) }) { await reports.value(within: Self.maximumReportTime) }
        for job in jobs {
            let progress = job.progress
            logger.notice(
                "Background job cancelled by shutdown",
                metadata: [
                    "job.kind": "\(job.kind)", "job.completed": "\(progress.completedCount)",
                    "job.total": "\(progress.totalCount.map { "\($0)" } ?? "unknown")",
                ]
            )
        }
    }

    private func removeReports(of job: BackgroundJob) {
        _ = state.withLock { $0.reports.removeValue(forKey: job.id) }
    }

    private func removeTask(of job: BackgroundJob) {
        _ = state.withLock { $0.tasks.removeValue(forKey: job.id) }
    }
}

extension BackgroundJob {
    fileprivate func isVisible(to caller: Caller) -> Bool {
        identity == caller.identity || caller.role == .admin
    }
}

extension JobRunner.StartError {
    var status: HTTPResponse.Status {
        switch self {
        case .shuttingDown: .serviceUnavailable
        case .tooManyJobs, .tooManyJobsForOwner: .tooManyRequests
        }
    }

    /// The error to show on the form that tried to start the job, with a link to the list of jobs.
    var problems: FormProblems {
        var problems = FormProblems()
        switch self {
        case .shuttingDown: problems.add(localized("The server is shutting down. Try again after it has restarted."))
        case .tooManyJobs:
            problems.add(
                localized(
                    "The server is already running the maximum number of background jobs. Try again when one has finished."
                ),
                linkingTo: AdminURL.jobs
            )
        case .tooManyJobsForOwner:
            problems.add(
                localized(
                    "You are already running the maximum number of background jobs: {limit}. Try again when one has finished, or stop one.",
                    ["limit": NumberFormat.grouped(JobRunner.maximumRunningPerOwner)]
                ),
                linkingTo: AdminURL.jobs
            )
        }
        return problems
    }
}
