package import Dispatch
internal import DocumentModel
internal import Synchronization

/// Runs long or blocking work on threads of its own, a bounded number at a time, so that Swift's own threads never wait for it.
package final class WorkQueue: Sendable {
    private struct State {
        var waiting: ArraySlice<@Sendable () -> Void> = []
        /// The queues that have nothing to do.
        var idle: [DispatchQueue]
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - label: What the threads' queues are called in a debugger.
    ///   - width: How many threads there are.
    ///   - qos: What the system is to think of the work.
    package init(label: String, width: Int, qos: DispatchQoS = .unspecified) {
        // Serial ones: Dispatch gives each a thread of its own, while all concurrent queues share as many threads as there are
        // processors, with Swift's own tasks.
        state = Mutex(State(idle: (0..<width).map { DispatchQueue(label: "\(label).\($0)", qos: qos) }))
    }

    /// Runs `work` when a thread is free, in order of arrival, and gives what it returns.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws(StatusError) -> Result) async throws(StatusError) -> Result {
        try await withCheckedContinuation { continuation in
            submit {
                continuation.resume(returning: Swift.Result { () throws(StatusError) in try work() })
            }
        }.get()
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

    private func drain(on queue: DispatchQueue) {
        while let job = next(on: queue) { job() }
    }

    /// The next job; without one, the queue is idle.
    private func next(on queue: DispatchQueue) -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let job = state.waiting.popFirst() { return job }
            state.idle.append(queue)
            return nil
        }
    }
}
