package import Dispatch

/// The executor of an actor with a thread of its own, which may block on the disk.
///
/// The actor names it as its executor:
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

    /// Runs `work` on the queue, after the jobs before it; returns at once. The work is isolated to the executor's actor, which
    /// it can tell the compiler with `assumeIsolated(_:)`, and takes no task.
    package func submit(after delay: Duration = .zero, _ work: @escaping @Sendable () -> Void) {
        if delay == .zero {
            queue.async(execute: work)
        } else {
            queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: work)
        }
    }
}
