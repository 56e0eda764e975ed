import DocumentModel
import Foundation
import Testing

@testable import DocumentStore

@Suite("Threads for work that waits", .timeLimit(.minutes(1)))
struct WorkQueueTests {
    @Test("Short work is done by a thread that may wait, and by the calling one where that may")
    func nearby() async throws {
        let (queue, other) = (WorkQueue(label: "a", width: 1), WorkQueue(label: "b", width: 1))
        func isHere() async throws(StatusError) -> Bool {
            let here = Self.thread()
            return try await queue.runNearby { () throws(StatusError) in Self.thread() } == here
        }
        #expect(try await !isHere())
        let nearby = try await withTaskExecutorPreference(Executor(queue: other)) { [try await isHere(), try await isHere()] }
        #expect(nearby == [true, true])
    }

    private static func thread() -> UInt {
        UInt(pthread_self())
    }

    /// Runs tasks on the threads of a queue.
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
