import Dispatch
import Synchronization

/// Threads for tasks that have much to compute, a bounded number of them.
///
/// All other tasks share as many threads as there are processors. Here, long work leaves those to everybody else, and shares
/// the processors with them as the system sees fit.
final class WorkThreads: TaskExecutor {
    private struct State {
        /// What waits for a thread, in order of arrival.
        var waiting: ArraySlice<UnownedJob> = []
        var running = 0
    }

    private let state = Mutex(State())
    private let queue: DispatchQueue
    private let count: Int

    /// - Parameter count: How many threads there are.
    init(_ label: String, count: Int) {
        queue = DispatchQueue(label: label, qos: .utility, attributes: .concurrent)
        self.count = count
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.waiting.append(job)
            guard state.running < count else { return false }
            state.running += 1
            return true
        }
        if needsThread { queue.async { self.drain() } }
    }

    private func drain() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            if let job = state.waiting.popFirst() { return job }
            state.running -= 1
            return nil
        }
    }
}
