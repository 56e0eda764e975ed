import Dispatch
import DocumentStore

/// Threads for tasks that have much to compute, a bounded number of them.
///
/// All other tasks share as many threads as there are processors. Here, long work leaves those to everybody else, and shares
/// the processors with them as the system sees fit.
package final class WorkThreads: TaskExecutor {
    private let queue: WorkQueue

    /// - Parameter count: How many threads there are.
    package init(_ label: String, count: Int) {
        queue = WorkQueue(label: label, width: count, qos: .utility)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
