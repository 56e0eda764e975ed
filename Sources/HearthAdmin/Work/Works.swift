import DocumentModel
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
    private static let maximumRunning = 4

    init(logger: Logger) {
        self.logger = logger
    }

    /// Begins a work. It outlives the request that asks for it: that is what it is for.
    ///
    /// - Throws: ``StatusCode/resourceExhausted`` when too many are under way, ``StatusCode/unavailable`` when the server stops.
    func begin(_ work: Work, _ body: @escaping @Sendable (Work) async throws(StatusError) -> Void) throws(StatusError) {
        let refusal: StatusError? = state.withLock { state in
            guard !state.isClosed else {
                return StatusError(.unavailable, "The server is being stopped. Try again when it is back.")
            }
            guard state.tasks.count < Self.maximumRunning else {
                return StatusError(
                    .resourceExhausted,
                    "\(Self.maximumRunning) imports and deletions are under way, as many as may be at a time. Try again when one is done."
                )
            }
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

    /// A work of this ID that a caller may see.
    func work(_ id: UTF8Key, for caller: Caller) -> Work? {
        state.withLock { state in
            state.works.first { $0.id == id && ($0.caller.identity == caller.identity || caller.role == .admin) }
        }
    }

    /// Ends all works that are under way, each after what it is doing, and begins no more.
    func close() async {
        let (works, tasks) = state.withLock { state in
            state.isClosed = true
            return (state.works.filter { !$0.progress.isOver }, Array(state.tasks.values))
        }
        for work in works { work.end(withServer: ()) }
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
