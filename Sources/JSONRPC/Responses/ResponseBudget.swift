internal import Synchronization

/// The memory limit for all responses together, from before a call is executed until its response has been sent.
///
/// A call for which no memory is available waits for a short time before it is executed. Responses larger than
/// ``smallResponseBytes`` may use at most three quarters of the budget, so that clients which do not read their large responses
/// cannot block small ones.
package final class ResponseBudget: Sendable {
    /// The size above which a response counts as large.
    package static let smallResponseBytes = 32 << 10

    fileprivate struct State {
        /// The bytes reserved, by responses and for calls in progress.
        var reservedBytes = 0
        /// The part of ``reservedBytes`` that large responses use.
        var largeBytes = 0
        var waiters: [Waiter] = []
        var lastID: UInt64 = 0
    }

    fileprivate struct Waiter {
        let id: UInt64
        let count: Int
        let grant: AsyncStream<Never>.Continuation
    }

    /// The size of the budget in bytes.
    package let limit: Int
    private let state = Mutex(State())
    /// Sleeps for the maximum time that a call waits.
    private let sleepUntilTimeout: @Sendable () async throws -> Void

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - timeout: The maximum time that a call waits for memory.
    ///   - clock: The clock that measures it.
    package init(limit: Int, timeout: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        self.limit = limit
        sleepUntilTimeout = { try await clock.sleep(for: timeout) }
    }

    /// A budget that is never exhausted.
    package static var unlimited: ResponseBudget {
        ResponseBudget(limit: .max / 2, timeout: .zero)
    }

    /// The number of bytes reserved.
    package var reservedBytes: Int {
        state.withLock { $0.reservedBytes }
    }

    /// The number of calls waiting for memory.
    var waiterCount: Int {
        state.withLock { $0.waiters.count }
    }

    /// Reserves bytes, waiting for others to release some if needed. Returns false on timeout or when the task is cancelled.
    fileprivate func acquire(_ count: Int) async -> Bool {
        guard !adjust(by: count, largeBytes: 0) else { return true }
        let (grants, grant) = AsyncStream<Never>.makeStream()
        let id: UInt64? = state.withLock { state in
            // Memory may have been released in the meantime.
            guard !state.adjust(by: count, largeBytes: 0, limit: limit) else { return nil }
            state.lastID += 1
            state.waiters.append(Waiter(id: state.lastID, count: count, grant: grant))
            return state.lastID
        }
        guard let id else { return true }
        let timer = Task {
            try? await sleepUntilTimeout()
            grant.finish()
        }
        defer { timer.cancel() }
        // Ends when the memory is granted, on timeout, and when the task is cancelled.
        for await _ in grants {}
        return !removeWaiter(id)
    }

    /// Removes a waiter. Returns false when it is gone because it was granted its memory.
    private func removeWaiter(_ id: UInt64) -> Bool {
        state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
    }

    /// Changes the reserved bytes without waiting. Returns false, and changes nothing, when the limit would be exceeded.
    fileprivate func adjust(by count: Int, largeBytes: Int) -> Bool {
        state.withLock { state in
            guard state.adjust(by: count, largeBytes: largeBytes, limit: limit) else { return false }
            if count < 0 { state.grantWaiters(limit: limit) }
            return true
        }
    }
}

extension ResponseBudget.State {
    fileprivate mutating func adjust(by count: Int, largeBytes: Int, limit: Int) -> Bool {
        let fits =
            (count <= 0 || reservedBytes + count <= limit)
            && (largeBytes <= 0 || self.largeBytes + largeBytes <= limit / 4 * 3)
        guard fits else { return false }
        reservedBytes += count
        self.largeBytes += largeBytes
        return true
    }

    /// Resumes all waiters whose bytes are now available.
    fileprivate mutating func grantWaiters(limit: Int) {
        waiters.removeAll { waiter in
            guard reservedBytes + waiter.count <= limit else { return false }
            reservedBytes += waiter.count
            waiter.grant.finish()
            return true
        }
    }
}

extension ResponseBudget {
    /// The bytes that one response reserves; released when the reservation is deallocated.
    package final class Reservation: Sendable {
        private struct Size {
            var reservedBytes = 0
            var largeBytes = 0
        }

        private let budget: ResponseBudget
        private let size = Mutex(Size())

        package init(of budget: ResponseBudget) {
            self.budget = budget
        }

        deinit {
            shrink(to: 0)
        }

        /// Reserves additional bytes, waiting if needed. Returns false on timeout.
        ///
        /// The request is capped at what remains of the budget's limit, which could never be granted in full otherwise.
        package func reserve(_ count: Int) async -> Bool {
            let count = min(count, budget.limit - size.withLock { $0.reservedBytes })
            guard await budget.acquire(count) else { return false }
            size.withLock { $0.reservedBytes += count }
            return true
        }

        /// Shrinks the reservation to the unsent bytes of a response and releases the rest.
        func shrink(to responseBytes: Int) {
            // Shrinking always succeeds.
            _ = resize(to: responseBytes, responseBytes: responseBytes)
        }

        /// Resizes the reservation without waiting.
        ///
        /// - Parameters:
        ///   - count: The new size.
        ///   - responseBytes: The part of it that the response built so far occupies.
        /// - Returns: False, with the reservation unchanged, when the limit would be exceeded.
        package func resize(to count: Int, responseBytes: Int) -> Bool {
            let largeBytes = responseBytes > ResponseBudget.smallResponseBytes ? responseBytes : 0
            return size.withLock { size in
                guard budget.adjust(by: count - size.reservedBytes, largeBytes: largeBytes - size.largeBytes) else {
                    return false
                }
                size = Size(reservedBytes: count, largeBytes: largeBytes)
                return true
            }
        }
    }
}
