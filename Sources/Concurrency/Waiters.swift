/// The tasks that wait for a state to change, first come, first served.
///
/// The list is part of the state, guarded by the owner's lock. Its methods only return the waiters to resume; the owner
/// calls ``Waiter/resume()`` after it has released the lock:
///
/// ```swift
/// let next = state.withLock { state in
///     let next = state.waiters.removeFirst()
///     if next == nil { state.freeSlots += 1 }
///     return next
/// }
/// next?.resume()
/// ```
package struct Waiters: Sendable {
    /// The waiters in the order in which they were added; some may have been cancelled.
    private var waiters: ArraySlice<Waiter> = []
    /// The number of waiters at which the cancelled ones are removed.
    private var sweepCount = Self.minimumSweepCount

    private static let minimumSweepCount = 16

    package init() {}

    /// Adds a waiter at the end, to be awaited after the lock has been released.
    ///
    /// Cancelled waiters need not be removed: they are swept as the list grows.
    package mutating func add() -> Waiter {
        if waiters.count >= sweepCount {
            waiters.removeAll(where: \.hasEnded)
            sweepCount = max(Self.minimumSweepCount, 2 * waiters.count)
        }
        let waiter = Waiter()
        waiters.append(waiter)
        return waiter
    }

    /// Removes the first waiter that has not been cancelled; `nil` if there is none.
    ///
    /// The waiter can no longer be cancelled, so whatever it is granted, such as a slot, is not lost. The caller must resume it.
    package mutating func removeFirst() -> Waiter? {
        while let waiter = waiters.popFirst() {
            if waiter.claim() { return waiter }
        }
        return nil
    }

    /// Removes all waiters, in their order. The caller must resume them.
    package mutating func removeAll() -> [Waiter] {
        defer {
            waiters = []
            sweepCount = Self.minimumSweepCount
        }
        return Array(waiters)
    }

    /// The number of pending waiters.
    package var count: Int {
        waiters.count { !$0.hasEnded }
    }

    /// True if no waiter is pending.
    package var isEmpty: Bool {
        waiters.allSatisfy(\.hasEnded)
    }
}
