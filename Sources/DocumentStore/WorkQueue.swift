package import Dispatch
internal import DocumentModel
internal import Synchronization

/// Runs long or blocking work on threads of its own, a bounded number at a time, so that Swift's own threads never wait for it.
package final class WorkQueue: Sendable {
    private struct State {
        var waiting: ArraySlice<@Sendable () -> Void> = []
        /// The queues that have nothing to do.
        var idle: [DispatchQueue]
        /// How many queues there are.
        var count: Int
        /// How many jobs are known to take long.
        var longCount = 0
    }

    private let state: Mutex<State>
    private let width: Int
    private let makeQueue: @Sendable () -> DispatchQueue

    /// - Parameters:
    ///   - label: What the threads' queues are called in a debugger.
    ///   - width: How many threads there are.
    ///   - qos: What the system is to think of the work.
    package init(label: String, width: Int, qos: DispatchQoS = .unspecified) {
        // Serial ones: Dispatch gives each a thread of its own, while all concurrent queues share as many threads as there are
        // processors, with Swift's own tasks.
        let makeQueue = { @Sendable (label: String) in
            let queue = DispatchQueue(label: label, qos: qos)
            queue.setSpecific(key: Self.isThreadOfQueue, value: true)
            return queue
        }
        state = Mutex(State(idle: (0..<width).map { makeQueue("\(label).\($0)") }, count: width))
        self.makeQueue = { makeQueue(label) }
        self.width = width
    }

    /// Set on all threads of such queues.
    private static let isThreadOfQueue = DispatchSpecificKey<Bool>()

    /// Runs `work` when a thread is free, in order of arrival, and gives what it returns.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws(StatusError) -> Result) async throws(StatusError) -> Result {
        try await withCheckedContinuation { continuation in
            submit {
                continuation.resume(returning: Swift.Result { () throws(StatusError) in try work() })
            }
        }.get()
    }

    /// Runs short work as ``run(_:)`` does, or here and at once where the calling thread is also one of a queue's: it may wait as
    /// well as any, and two changes of threads would take longer than the work.
    func runNearby<Result: Sendable>(
        _ work: @escaping @Sendable () throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        guard DispatchQueue.getSpecific(key: Self.isThreadOfQueue) == true else { return try await run(work) }
        return try work()
    }

    /// Runs a job when a thread is free, in order of arrival.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let idle = state.withLock { state -> DispatchQueue? in
            state.waiting.append(job)
            return state.idle.popLast()
        }
        guard let idle else { return }
        idle.async { self.drain(on: idle) }
    }

    /// Gives another thread to the others for as long as a job goes on that takes long; false when `limit` jobs have one.
    func beginLongJob(limit: Int) -> Bool {
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

    /// Takes the thread back, when one of them has nothing to do.
    func endLongJob() {
        state.withLock { $0.longCount -= 1 }
    }

    private func drain(on queue: DispatchQueue) {
        while let job = next(on: queue) { job() }
    }

    /// The next job; without one, the queue is idle.
    private func next(on queue: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.count > width + state.longCount {
                state.count -= 1
                return nil
            }
            if let job = state.waiting.popFirst() { return job }
            state.idle.append(queue)
            return nil
        }
    }
}
