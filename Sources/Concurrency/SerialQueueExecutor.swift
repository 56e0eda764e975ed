package import Dispatch

/// An executor that gives an actor its own thread, which may block on disk I/O.
///
/// The actor returns it as its executor:
///
/// ```swift
/// private nonisolated let executor = SerialQueueExecutor(label: "hearth.committer")
/// nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// ```
package final class SerialQueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - label: The label of the dispatch queue, for debuggers.
    ///   - qos: The quality-of-service class of the work.
    package init(label: String, qos: DispatchQoS = .unspecified) {
        queue = DispatchQueue(label: label, qos: qos)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Runs `work` on the queue after the jobs already enqueued; returns immediately, without creating a task. The work is
    /// isolated to the executor's actor, as it can assert with `assumeIsolated(_:)`.
    package func submit(after delay: Duration = .zero, _ work: @escaping @Sendable () -> Void) {
        if delay == .zero {
            queue.async(execute: work)
        } else {
            queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: work)
        }
    }
}
