import Dispatch
import Synchronization

/// Works on large request bodies, a few at a time and on threads of their own.
///
/// Parsing megabytes takes a thread for as long, and there are no more threads for all tasks than processors. Elsewhere, large
/// bodies leave those to everybody else, and share the processors with them as the system sees fit.
final class LargeBodies: Sendable {
    private struct State {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())
    private let executor = LargeBodyExecutor()

    /// A body beyond this is large.
    static let minimumBytes = 1 << 20

    /// - Parameter limit: How many are worked on at the same time; others wait for their turn.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs work on a body of so many bytes: at once and here when it is small, else elsewhere and in its turn.
    func work<Result: Sendable>(onBodyOf bytes: Int, _ work: @Sendable () async -> Result) async -> Result {
        guard bytes > Self.minimumBytes else { return await work() }
        await begin()
        defer { end() }
        return await withTaskExecutorPreference(executor, operation: work)
    }

    private func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.count < limit else {
                    state.waiters.append(continuation)
                    return false
                }
                state.count += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func end() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.count -= 1
            return nil
        }
        next?.resume()
    }
}

/// As many threads as there are tasks that want one; ``LargeBodies`` lets only a few.
private final class LargeBodyExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "hearth.large-bodies", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
