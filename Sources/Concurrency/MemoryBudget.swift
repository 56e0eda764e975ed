internal import Synchronization

/// A memory limit that concurrent requests share, each with its own ``Reservation``.
///
/// Reservations that are not small may together use at most three-quarters of the budget, so that clients that send or read
/// large bodies slowly cannot block small ones.
package final class MemoryBudget: Sendable {
    fileprivate struct State {
        /// The bytes reserved, in use or not.
        var reservedBytes = 0
        /// The part of ``reservedBytes`` that large reservations use.
        var largeBytes = 0
        /// The waiting reservations in the order in which they began to wait.
        var queue: [QueueEntry] = []
        /// The number of times that memory was refused.
        var refusedCount = 0
    }

    fileprivate struct QueueEntry {
        let waiter: Waiter
        let count: Int
    }

    /// The size of the budget in bytes.
    package let limit: Int
    /// The number of bytes in use up to which a reservation is small.
    fileprivate let smallReservationBytes: Int
    fileprivate let state = Mutex(State())
    /// Sleeps for the maximum time that a reservation waits.
    private let sleepUntilTimeout: @Sendable () async throws -> Void

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The size of the budget in bytes.
    ///   - smallReservationBytes: The number of bytes in use up to which a reservation is small.
    ///   - timeout: The maximum time that ``Reservation/reserve(_:)`` waits for memory.
    ///   - clock: The clock that measures the timeout.
    package init(
        limit: Int,
        smallReservationBytes: Int,
        timeout: Duration = .zero,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit
        self.smallReservationBytes = smallReservationBytes
        sleepUntilTimeout = { try await clock.sleep(for: timeout) }
    }

    /// A budget that is never exhausted.
    package static var unlimited: MemoryBudget {
        MemoryBudget(limit: .max / 2, smallReservationBytes: .max)
    }

    /// The number of bytes reserved.
    package var reservedBytes: Int {
        state.withLock { $0.reservedBytes }
    }

    /// The number of times that memory was refused.
    package var refusedCount: Int {
        state.withLock { $0.refusedCount }
    }

    /// The number of reservations that wait for memory.
    package var waiterCount: Int {
        state.withLock { $0.queue.count }
    }

    /// Reserves bytes, waiting for others to release some if needed. Returns `false` on timeout or when the task is cancelled.
    fileprivate func acquire(_ count: Int) async -> Bool {
        let waiter: Waiter? = state.withLock { state in
            guard !state.adjust(by: count, largeBytes: 0, limit: limit) else { return nil }
            let waiter = Waiter()
            state.queue.append(QueueEntry(waiter: waiter, count: count))
            return waiter
        }
        guard let waiter else { return true }
        let timer = Task {
            try? await sleepUntilTimeout()
            waiter.resume()
        }
        defer { timer.cancel() }
        // Ends when the memory is granted, on timeout, and when the task is cancelled.
        await waiter.wait()
        return !removeFromQueue(waiter)
    }

    /// Removes a waiter. Returns `false` if it was already removed because its memory was granted.
    private func removeFromQueue(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard let index = state.queue.firstIndex(where: { $0.waiter === waiter }) else { return false }
            state.refusedCount += 1
            state.queue.remove(at: index)
            return true
        }
    }

    /// Changes the reserved bytes regardless of the limit.
    ///
    /// - Returns: The waiters that have been granted their memory, to be resumed without holding a lock.
    fileprivate func adjustRegardlessOfLimit(by count: Int, largeBytes: Int) -> [Waiter] {
        state.withLock { state in
            state.reservedBytes += count
            state.largeBytes += largeBytes
            return count < 0 && !state.queue.isEmpty ? state.grantMemory(limit: limit) : []
        }
    }

    /// Changes the reserved bytes without waiting.
    ///
    /// - Returns: The waiters that have been granted their memory, to be resumed without holding a lock; `nil`, with nothing
    ///   changed, when the limit would be exceeded.
    fileprivate func adjust(by count: Int, largeBytes: Int) -> [Waiter]? {
        state.withLock { state in
            guard state.adjust(by: count, largeBytes: largeBytes, limit: limit) else { return nil }
            return count < 0 && !state.queue.isEmpty ? state.grantMemory(limit: limit) : []
        }
    }
}

extension MemoryBudget.State {
    fileprivate mutating func adjust(by count: Int, largeBytes: Int, limit: Int) -> Bool {
        let fits =
            (count <= 0 || reservedBytes + count <= limit)
            && (largeBytes <= 0 || self.largeBytes + largeBytes <= limit / 4 * 3)
        guard fits else { return false }
        reservedBytes += count
        self.largeBytes += largeBytes
        return true
    }

    /// Grants memory to the waiting reservations in their order, skipping those for which there is not enough.
    fileprivate mutating func grantMemory(limit: Int) -> [Waiter] {
        var granted: [Waiter] = []
        queue.removeAll { entry in
            guard reservedBytes + entry.count <= limit else { return false }
            reservedBytes += entry.count
            granted.append(entry.waiter)
            return true
        }
        return granted
    }
}

extension MemoryBudget {
    /// The bytes that one request or response reserves; released when the reservation is deallocated.
    package final class Reservation: Sendable {
        private struct Size {
            var reservedBytes = 0
            /// The bytes in use if the reservation is not small, otherwise 0.
            var largeBytes = 0
        }

        private let budget: MemoryBudget
        private let size = Mutex(Size())

        /// Creates an empty reservation.
        package init(of budget: MemoryBudget) {
            self.budget = budget
        }

        deinit {
            shrink(to: 0)
        }

        /// Reserves additional bytes that are not in use yet, waiting if needed. Returns `false` on timeout or when the task is
        /// cancelled.
        ///
        /// The number is capped at what remains of the budget's limit; more could never be granted.
        package func reserve(_ count: Int) async -> Bool {
            let count = min(count, budget.limit - size.withLock { $0.reservedBytes })
            guard await budget.acquire(count) else { return false }
            size.withLock { $0.reservedBytes += count }
            return true
        }

        /// Reserves additional bytes, all in use, without waiting. Returns `false`, with the reservation unchanged, when the
        /// limit would be exceeded.
        package func grow(by count: Int) -> Bool {
            change { (size: $0 + count, usedBytes: $0 + count) } || refuse()
        }

        /// Resizes the reservation without waiting. Returns `false`, with the reservation unchanged, when the limit would be
        /// exceeded.
        ///
        /// - Parameters:
        ///   - count: The new size.
        ///   - usedBytes: The part of it that is in use.
        package func resize(to count: Int, usedBytes: Int) -> Bool {
            change { _ in (size: count, usedBytes: usedBytes) } || refuse()
        }

        /// Resizes the reservation, all of it in use, even beyond the limit of the budget: for the response to a completed write,
        /// which a client that gets an error instead would repeat. Others get memory again once the budget is below its limit.
        package func resizeRegardlessOfLimit(to count: Int) {
            if change({ _ in (size: count, usedBytes: count) }) { return }
            let granted = size.withLock { size in
                let largeBytes = count > budget.smallReservationBytes ? count : 0
                defer { size = Size(reservedBytes: count, largeBytes: largeBytes) }
                return budget.adjustRegardlessOfLimit(
                    by: count - size.reservedBytes,
                    largeBytes: largeBytes - size.largeBytes
                )
            }
            for waiter in granted { waiter.resume() }
        }

        /// Shrinks the reservation to the bytes still in use and releases the rest.
        package func shrink(to usedBytes: Int) {
            // Shrinking always succeeds.
            _ = resize(to: usedBytes, usedBytes: usedBytes)
        }

        /// Counts a refusal. Returns false.
        private func refuse() -> Bool {
            budget.state.withLock { $0.refusedCount += 1 }
            return false
        }

        private func change(_ newSize: (_ reservedBytes: Int) -> (size: Int, usedBytes: Int)) -> Bool {
            let granted: [Waiter]? = size.withLock { size in
                let (count, usedBytes) = newSize(size.reservedBytes)
                let largeBytes = usedBytes > budget.smallReservationBytes ? usedBytes : 0
                let granted = budget.adjust(by: count - size.reservedBytes, largeBytes: largeBytes - size.largeBytes)
                if granted != nil { size = Size(reservedBytes: count, largeBytes: largeBytes) }
                return granted
            }
            guard let granted else { return false }
            for waiter in granted { waiter.resume() }
            return true
        }
    }
}
