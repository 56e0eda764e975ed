import DocumentModel
import HTTPTypes
import HearthService
import Logging
import StrictJSON
import Synchronization

/// The works that are under way, and those that are over for a while.
final class Works: Sendable {
    private struct State {
        var works: [Work] = []
        var tasks: [UTF8Key: Task<Void, Never>] = [:]
        /// Whether the server stops, so that nothing more is begun.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let logger: Logger
    /// Works read and write much; everything else shares the threads that there are for all tasks.
    private let threads = WorkThreads("hearth.works", count: maximumRunning)

    private static let limit = 100
    /// How many may be under way at a time, in all databases together.
    static let maximumRunning = 4
    /// As many may be one owner's, so that one alone never keeps all others from anything.
    static let maximumRunningPerOwner = 2

    /// Why nothing can be begun now.
    enum Refusal: Error {
        /// The server stops.
        case closed
        /// As many are under way as may be at a time.
        case full
        /// As many of the same owner's.
        case ownerIsFull
    }

    init(logger: Logger) {
        self.logger = logger
    }

    /// Begins a work. It outlives the request that asks for it: that is what it is for.
    ///
    func begin(_ work: Work, _ body: @escaping @Sendable (Work) async throws(StatusError) -> Void) throws(Refusal) {
        let refusal: Refusal? = state.withLock { state in
            guard !state.isClosed else { return .closed }
            // Not those that are over and whose tasks are a moment from their end.
            let running = state.works.filter { !$0.progress.isOver }
            // First what the owner can do something about.
            guard running.count(where: { $0.owner == work.owner }) < Self.maximumRunningPerOwner else { return .ownerIsFull }
            guard running.count < Self.maximumRunning else { return .full }
            state.works.append(work)
            if state.works.count > Self.limit, let oldest = state.works.firstIndex(where: { $0.progress.isOver }) {
                state.works.remove(at: oldest)
            }
            state.tasks[work.id] = Task(executorPreference: threads) { [weak self] in
                await work.run { () async throws(StatusError) in try await body(work) }
                self?.forgetTask(of: work)
            }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// A work of this ID in a database, where a caller may see it.
    func work(_ id: UTF8Key, for caller: Caller, in database: DatabaseID) -> Work? {
        works(for: caller, in: database).first { $0.id == id }
    }

    /// All works in a database that a caller may see, the newest first.
    func works(for caller: Caller, in database: DatabaseID) -> [Work] {
        works(for: caller).filter { $0.database == database }
    }

    /// The other databases in which works are under way that a caller may see: they count, too, wherever one looks.
    func busyDatabases(for caller: Caller, besides database: DatabaseID) -> [DatabaseID] {
        var known: Set = [database]
        return works(for: caller).filter { !$0.progress.isOver }.map(\.database).filter { known.insert($0).inserted }
    }

    private func works(for caller: Caller) -> [Work] {
        state.withLock { $0.works }.filter { $0.isVisible(to: caller) }.reversed()
    }

    /// Ends all works that are under way, each after what it is doing, and begins no more.
    func close() async {
        let (works, tasks) = state.withLock { state in
            state.isClosed = true
            return (state.works.filter { !$0.progress.isOver }, Array(state.tasks.values))
        }
        for work in works { work.stopWithServer() }
        for task in tasks { await task.value }
        for work in works {
            let progress = work.progress
            logger.notice(
                "What somebody had begun in the browser was ended with the server",
                metadata: [
                    "work.kind": "\(work.kind)", "work.done": "\(progress.done)",
                    "work.total": "\(progress.total.map { "\($0)" } ?? "unknown")",
                ]
            )
        }
    }

    private func forgetTask(of work: Work) {
        _ = state.withLock { $0.tasks.removeValue(forKey: work.id) }
    }
}

extension Work {
    fileprivate func isVisible(to caller: Caller) -> Bool {
        self.caller.identity == caller.identity || caller.role == .admin
    }
}

extension Works.Refusal {
    var status: HTTPResponse.Status {
        switch self {
        case .closed: .serviceUnavailable
        case .full, .ownerIsFull: .tooManyRequests
        }
    }

    /// What is said of it, with the way to the list of what is under way.
    var problems: FormProblems {
        var problems = FormProblems()
        switch self {
        case .closed: problems.add(localized("The server is being stopped. Try again when it is back."))
        case .full:
            problems.add(
                localized(
                    "As many imports and deletions are under way as the server does at a time. Try again when one is done."
                ),
                linkingTo: AdminURL.works
            )
        case .ownerIsFull:
            problems.add(
                localized(
                    "As many imports and deletions of yours are under way as one may have at a time: {limit}. Try again when one is done, or stop one.",
                    ["limit": Counting.grouped(Works.maximumRunningPerOwner)]
                ),
                linkingTo: AdminURL.works
            )
        }
        return problems
    }
}
