import HearthService
import NIOCore
import Synchronization

/// Works on large request bodies and on batches on threads of their own, and on the largest a few at a time.
///
/// Parsing a body and making values of it takes a thread some 10 ms a megabyte, and there are no more threads for all tasks
/// than processors. The largest take several times their size in memory.
///
/// The calls of a batch are executed one after another on one thread, which may wait for the disk: most of what a quick call
/// costs by itself is the way to such a thread and back.
final class LargeBodies: Sendable {
    private struct State {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let state = Mutex(State())
    private let threads: WorkThreads
    /// For batches, each one thread.
    private let batchThreads: [WorkThreads]
    /// How many batches there were.
    private let batchCount = Atomic(0)

    /// A body up to this is worked on like all else, for a millisecond at most.
    static let smallBytes = 64 << 10
    /// A body beyond this waits for its turn.
    static let largeBytes = 1 << 20

    /// - Parameter limit: How many of the largest are worked on at the same time.
    init(limit: Int) {
        self.limit = limit
        threads = WorkThreads("hearth.bodies", count: limit + System.coreCount)
        batchThreads = (0..<2 * System.coreCount).map { WorkThreads("hearth.batches.\($0)", count: 1) }
    }

    /// Runs work on a body of so many bytes: at once and here when it is small and no batch, else elsewhere, and in its turn.
    ///
    /// - Parameter work: Gets what further tasks for the body are to prefer.
    func work<Result: Sendable>(
        onBodyOf bytes: Int,
        isBatch: Bool = false,
        _ work: @Sendable ((any TaskExecutor)?) async -> Result
    ) async -> Result {
        guard bytes > Self.smallBytes || isBatch else { return await work(nil) }
        let threads = isBatch ? nextBatchThread : threads
        guard bytes > Self.largeBytes else { return await withTaskExecutorPreference(threads) { await work(threads) } }
        await begin()
        defer { end() }
        return await withTaskExecutorPreference(threads) { await work(threads) }
    }

    private var nextBatchThread: WorkThreads {
        let number = batchCount.wrappingAdd(1, ordering: .relaxed).oldValue
        return batchThreads[number % batchThreads.count]
    }

    private func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.count < limit else {
                    state.waiters.append(continuation)
                    return false
                }
                state.count += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func end() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.count -= 1
            return nil
        }
        next?.resume()
    }
}
