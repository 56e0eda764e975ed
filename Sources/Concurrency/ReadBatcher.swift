internal import Synchronization

/// Combines concurrent reads of single values into requests for several.
///
/// While there are few requests in progress, each read has its own at once. Further reads are queued, and share the next request, which is
/// made when one of those in progress ends. The cost of a read falls as their number grows, and no read waits for others that may come.
package final class ReadBatcher<Key: Sendable, Value: Sendable, Failure: Error>: Sendable {
    /// Reads the values for keys in one request, and returns as many results in the same order.
    package typealias Request = @Sendable ([Key]) async -> [Result<Value, Failure>]

    /// The limits of requests and of the queue.
    package struct Limits: Sendable {
        /// The number of requests in progress at which further reads are queued.
        let requestCount: Int
        /// The number of reads in a request.
        let readCount: Int
        /// The number of reads in the queue.
        let queueCount: Int
        /// The time after which a read in the queue fails, to a second; `nil` for none.
        let queueTime: Duration?

        package init(requestCount: Int, readCount: Int, queueCount: Int = .max, queueTime: Duration? = nil) {
            self.requestCount = requestCount
            self.readCount = readCount
            self.queueCount = queueCount
            self.queueTime = queueTime
        }
    }

    /// The reason why a read has no request.
    package enum Refusal: Sendable {
        /// Its task was cancelled.
        case cancelled
        /// The queue was full.
        case queueCount
        /// It was in the queue for too long.
        case queueTime
    }

    private struct State {
        /// The number of requests in progress.
        var requestCount = 0
        var queue: [QueuedRead<Key, Value, Failure>] = []
        /// The number of reads in the queue at which those that were cancelled are removed.
        var sweepCount = minimumSweepCount
        /// True while a task looks for reads that are in the queue for too long.
        var isTimed = false
    }

    private enum Admission {
        /// The read has a request of its own.
        case immediate
        case queued(QueuedRead<Key, Value, Failure>)
        case refused
    }

    private static var minimumSweepCount: Int { 1_024 }

    private let limits: Limits
    private let failure: @Sendable (Refusal) -> Failure
    private let state = Mutex(State())

    /// - Parameter failure: Returns the error of a read without a request.
    package init(limits: Limits, failure: @escaping @Sendable (Refusal) -> Failure) {
        self.limits = limits
        self.failure = failure
    }

    /// The number of reads in the queue.
    package var queueCount: Int { state.withLock(\.queue.count) }

    /// Returns the value for a key.
    ///
    /// - Parameter request: Makes a request, for this read or for those in the queue. All reads must give the same.
    package func value(for key: Key, _ request: @escaping Request) async throws(Failure) -> Value {
        switch state.withLock({ admit(key, to: &$0) }) {
        case .immediate:
            defer { requestCompleted(request) }
            return try await request([key])[0].get()
        case .queued(let read): return try await read.value(orOnCancellation: { [failure] in failure(.cancelled) }).get()
        case .refused: throw failure(.queueCount)
        }
    }

    private func admit(_ key: Key, to state: inout State) -> Admission {
        guard state.requestCount >= limits.requestCount else {
            state.requestCount += 1
            return .immediate
        }
        if state.queue.count >= min(state.sweepCount, limits.queueCount) {
            state.queue.removeAll(where: \.isCompleted)
            state.sweepCount = max(Self.minimumSweepCount, 2 * state.queue.count)
        }
        guard state.queue.count < limits.queueCount else { return .refused }
        let read = QueuedRead<Key, Value, Failure>(of: key)
        state.queue.append(read)
        if limits.queueTime != nil, !state.isTimed {
            state.isTimed = true
            Task.detached { await self.limitQueueTime() }
        }
        return .queued(read)
    }

    /// Makes the next request for reads in the queue, if any.
    private func requestCompleted(_ request: @escaping Request) {
        let next: [QueuedRead<Key, Value, Failure>] = state.withLock { state in
            var next: [QueuedRead<Key, Value, Failure>] = []
            var count = 0
            while count < state.queue.count, next.count < limits.readCount {
                if !state.queue[count].isCompleted { next.append(state.queue[count]) }
                count += 1
            }
            state.queue.removeFirst(count)
            if next.isEmpty { state.requestCount -= 1 }
            return next
        }
        guard !next.isEmpty else { return }
        // A task of none of the callers: any of them may be cancelled, and none of their time limits holds for the others.
        Task.detached {
            let results = await request(next.map(\.key))
            precondition(results.count == next.count, "A request must have a result for each key.")
            for (read, result) in zip(next, results) { read.complete(with: result) }
            self.requestCompleted(request)
        }
    }

    /// Refuses reads that are in the queue for too long, until it is empty.
    private func limitQueueTime() async {
        guard let queueTime = limits.queueTime else { return }
        var isTimed = true
        while isTimed {
            try? await Task.sleep(for: .seconds(1))
            let late = state.withLock { state in
                let late = state.queue.prefix { $0.time > queueTime }
                state.queue.removeFirst(late.count)
                isTimed = !state.queue.isEmpty
                state.isTimed = isTimed
                return late
            }
            for read in late { read.complete(with: .failure(failure(.queueTime))) }
        }
    }
}

/// A read that is waiting for its request.
private final class QueuedRead<Key: Sendable, Value: Sendable, Failure: Error>: Sendable {
    private enum State {
        case queued
        case waiting(CheckedContinuation<Result<Value, Failure>, Never>)
        case completed(Result<Value, Failure>)
    }

    let key: Key
    private let stopwatch = Stopwatch()
    private let state = Mutex(State.queued)

    init(of key: Key) {
        self.key = key
    }

    /// The time since it was queued.
    var time: Duration { .nanoseconds(Int64(clamping: stopwatch.nanoseconds)) }

    var isCompleted: Bool {
        state.withLock { if case .completed = $0 { true } else { false } }
    }

    /// Waits for the result. Call it once.
    func value(orOnCancellation cancelled: @Sendable () -> Failure) async -> Result<Value, Failure> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Result<Value, Failure>? = state.withLock { state in
                    if case .completed(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            complete(with: .failure(cancelled()))
        }
    }

    /// Completes the read. Only the first call has an effect.
    func complete(with result: Result<Value, Failure>) {
        let continuation: CheckedContinuation<Result<Value, Failure>, Never>? = state.withLock { state in
            switch state {
            case .completed: return nil
            case .queued:
                state = .completed(result)
                return nil
            case .waiting(let continuation):
                state = .completed(result)
                return continuation
            }
        }
        continuation?.resume(returning: result)
    }
}
