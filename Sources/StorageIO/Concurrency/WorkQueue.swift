public import Dispatch
public import DocumentModel
internal import Synchronization

/// A thread pool for blocking work, so that it never occupies a thread of Swift's cooperative pool.
///
/// Jobs start in submission order, at most `width` at a time; ``beginLongJob(limit:)`` adds a thread for each long job.
@usableFromInline
package final class WorkQueue: Sendable {
    private struct State {
        var pending: ArraySlice<@Sendable () -> Void> = []
        /// The idle threads' queues.
        var idle: [DispatchQueue]
        /// The number of threads, busy and idle.
        var count: Int
        /// The number of long jobs in progress.
        var longCount = 0
    }

    private let state: Mutex<State>
    private let width: Int
    private let makeQueue: @Sendable () -> DispatchQueue

    /// - Parameters:
    ///   - label: The label of the threads' dispatch queues, for debuggers.
    ///   - width: The number of threads.
    ///   - qos: The quality-of-service class of the work.
    package init(label: String, width: Int, qos: DispatchQoS = .unspecified) {
        // Serial queues, because Dispatch gives each one its own thread, while concurrent queues share one thread per processor
        // with Swift's tasks.
        let makeQueue = { @Sendable (label: String) in
            let queue = DispatchQueue(label: label, qos: qos)
            queue.setSpecific(key: Self.isThreadOfQueue, value: true)
            return queue
        }
        state = Mutex(State(idle: (0..<width).map { makeQueue("\(label).\($0)") }, count: width))
        self.makeQueue = { makeQueue(label) }
        self.width = width
    }

    /// Set on the dispatch queues of every `WorkQueue`.
    @usableFromInline
    package static let isThreadOfQueue = DispatchSpecificKey<Bool>()

    /// Runs `work` on the next free thread and returns its result.
    @inlinable
    package func run<Result: Sendable>(
        _ work: @escaping @Sendable () throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await withCheckedContinuation { continuation in
            submit {
                continuation.resume(returning: Swift.Result { () throws(StatusError) in try work() })
            }
        }.get()
    }

    /// Runs short work as ``run(_:)`` does, or inline if the caller is already on a thread of a work queue.
    ///
    /// Such a thread may block, and two thread switches would take longer than the work.
    @inlinable
    package func runInline<Result: Sendable>(
        _ work: @escaping @Sendable () throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        guard DispatchQueue.getSpecific(key: Self.isThreadOfQueue) == true else { return try await run(work) }
        return try work()
    }

    /// Enqueues a job; returns immediately.
    @usableFromInline
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let idle = state.withLock { state -> DispatchQueue? in
            state.pending.append(job)
            return state.idle.popLast()
        }
        guard let idle else { return }
        idle.async { self.drain(on: idle) }
    }

    /// Adds a thread until ``endLongJob()``, so that a long job on this queue does not delay the others.
    ///
    /// - Returns: `false`, without adding a thread, if `limit` long jobs are already in progress.
    package func beginLongJob(limit: Int) -> Bool {
        let (isGranted, added) = state.withLock { state -> (Bool, DispatchQueue?) in
            guard state.longCount < limit else { return (false, nil) }
            state.longCount += 1
            guard state.count < width + state.longCount else { return (true, nil) }
            state.count += 1
            return (true, makeQueue())
        }
        if let added { added.async { self.drain(on: added) } }
        return isGranted
    }

    /// Ends a long job: the next thread that becomes idle exits.
    package func endLongJob() {
        state.withLock { $0.longCount -= 1 }
    }

    private func drain(on queue: DispatchQueue) {
        while let job = next(on: queue) { job() }
    }

    /// Dequeues the next job; without one, marks the thread as idle or retires it.
    private func next(on queue: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.count > width + state.longCount {
                state.count -= 1
                return nil
            }
            if let job = state.pending.popFirst() { return job }
            state.idle.append(queue)
            return nil
        }
    }
}
