import Dispatch
import StorageIO

/// A task executor with a bounded number of threads, for CPU-bound tasks.
///
/// The global executor has one thread per processor. Long computations on separate threads leave those free, and the operating
/// system divides processor time among all of them.
package final class ThreadPoolExecutor: TaskExecutor {
    private let queue: WorkQueue

    /// - Parameter count: The number of threads.
    package init(_ label: String, count: Int) {
        queue = WorkQueue(label: label, width: count, qos: .utility)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
