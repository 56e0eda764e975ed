import Concurrency
import HearthAPI
import NIOCore
import Synchronization

/// An executor for large request bodies and batches: dedicated threads, and a concurrency limit for the largest bodies.
///
/// Parsing and decoding take about 10 ms per megabyte, and Swift's cooperative pool has only as many threads as processors. The
/// largest bodies use several times their size in memory.
///
/// A batch is executed sequentially on one thread, which may block on disk I/O: for a quick call, switching to an I/O thread and
/// back would be most of the cost.
package final class LargeBodyExecutor: Sendable {
    private struct State {
        /// The number of slots in use.
        var count = 0
        var waiters = Waiters()
    }

    private let limit: Int
    private let state = Mutex(State())
    private let threads: ThreadPoolExecutor
    /// Single-threaded executors for batches.
    private let batchThreads: [ThreadPoolExecutor]
    /// The number of batches executed, for round-robin assignment.
    private let batchCount = Atomic(0)

    /// The maximum size of a body that is processed on an event loop, which takes about 0.1 ms.
    static let inlineBodyBytes = 8 << 10
    /// The maximum size of a body that is processed on Swift's shared threads, which takes at most a millisecond.
    static let smallBodyBytes = 64 << 10
    /// The size above which the concurrency limit applies.
    static let largeBytes = 1 << 20

    /// Creates an executor.
    ///
    /// - Parameter limit: The number of bodies over ``largeBytes`` that are processed concurrently.
    init(limit: Int) {
        self.limit = limit
        threads = ThreadPoolExecutor("hearth.bodies", count: limit + System.coreCount)
        batchThreads = (0..<2 * System.coreCount).map { ThreadPoolExecutor("hearth.batches.\($0)", count: 1) }
    }

    /// Runs an operation on a body: on a dedicated thread when the body is large or a batch, otherwise on the current executor or
    /// Swift's shared threads.
    ///
    /// - Parameters:
    ///   - executor: The current executor, if it is that of an event loop.
    ///   - operation: The operation; receives the executor that its child tasks should prefer.
    package func run<Result: Sendable>(
        bodyBytes: Int,
        isBatch: Bool = false,
        on executor: (any TaskExecutor)? = nil,
        _ operation: @Sendable ((any TaskExecutor)?) async -> Result
    ) async -> Result {
        guard bodyBytes > Self.smallBodyBytes || isBatch else {
            if executor == nil || bodyBytes <= Self.inlineBodyBytes { return await operation(executor) }
            return await withTaskExecutorPreference(globalConcurrentExecutor) { await operation(nil) }
        }
        let threads = isBatch ? nextBatchThread : threads
        guard bodyBytes > Self.largeBytes else {
            return await withTaskExecutorPreference(threads) { await operation(threads) }
        }
        await acquireSlot()
        defer { releaseSlot() }
        return await withTaskExecutorPreference(threads) { await operation(threads) }
    }

    private var nextBatchThread: ThreadPoolExecutor {
        let number = batchCount.wrappingAdd(1, ordering: .relaxed).oldValue
        return batchThreads[number % batchThreads.count]
    }

    private func acquireSlot() async {
        let waiter: Waiter? = state.withLock { state in
            guard state.count >= limit else {
                state.count += 1
                return nil
            }
            return state.waiters.add()
        }
        guard let waiter else { return }
        // In a separate task: even a cancelled call waits for its slot, since it may still parse its body.
        await Task { _ = await waiter.wait() }.value
    }

    private func releaseSlot() {
        let next = state.withLock { state in
            let next = state.waiters.removeFirst()
            if next == nil { state.count -= 1 }
            return next
        }
        next?.resume()
    }
}
