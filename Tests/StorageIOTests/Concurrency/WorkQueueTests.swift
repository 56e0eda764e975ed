import DocumentModel
import Foundation
import Testing

@testable import StorageIO

@Suite("Work queues", .timeLimit(.minutes(10)))
struct WorkQueueTests {
    @Test
    func `Short work runs on the queue, or inline on a caller's queue thread`() async throws {
        let (queue, other) = (WorkQueue(label: "a", width: 1), WorkQueue(label: "b", width: 1))
        func isInline() async throws(StatusError) -> Bool {
            let caller = Self.thread()
            return try await queue.runInline { () throws(StatusError) in Self.thread() } == caller
        }
        #expect(try await !isInline())
        let results = try await withTaskExecutorPreference(Executor(queue: other)) {
            [try await isInline(), try await isInline()]
        }
        #expect(results == [true, true])
    }

    private static func thread() -> UInt {
        UInt(pthread_self())
    }

    /// An executor that runs tasks on a work queue's threads.
    private final class Executor: TaskExecutor {
        private let queue: WorkQueue

        init(queue: WorkQueue) {
            self.queue = queue
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
