internal import Synchronization

/// A wait for one event, which ends when the event occurs or the task is cancelled.
///
/// The waiter is created where the event cannot be missed, usually under the lock of the state that will change
/// (``Waiters/add()``), and awaited after the lock has been released:
///
/// ```swift
/// let waiter = state.withLock { state in state.isReady ? nil : state.waiters.add() }
/// await waiter?.wait()
/// ```
///
/// An event between the two lines is not lost: the wait returns at once.
package final class Waiter: Sendable {
    private enum State {
        case created
        case suspended(CheckedContinuation<Bool, Never>)
        /// Will be resumed; can no longer be cancelled.
        case claimed(CheckedContinuation<Bool, Never>)
        case ended(wasResumed: Bool)
    }

    private let state = Mutex(State.created)

    package init() {}

    /// Suspends the task until ``resume()``, or until it is cancelled. Call it once.
    ///
    /// - Returns: False if the task was cancelled before the waiter was resumed or claimed.
    @discardableResult
    package nonisolated(nonsending) func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    switch state {
                    case .created: state = .suspended(continuation)
                    case .ended(let wasResumed): return wasResumed
                    case .suspended, .claimed: preconditionFailure("A waiter is awaited once")
                    }
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the wait. Has no effect on a waiter that was resumed or cancelled before.
    ///
    /// Call it without holding a lock, since the executor of the resumed task may run arbitrary code.
    package func resume() {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            switch state {
            case .created: state = .ended(wasResumed: true)
            case .suspended(let continuation), .claimed(let continuation):
                state = .ended(wasResumed: true)
                return continuation
            case .ended: break
            }
            return nil
        }
        continuation?.resume(returning: true)
    }

    /// Reserves the wait for ``resume()``, which the caller must call: a cancellation no longer ends it.
    ///
    /// - Returns: False if the waiter has been cancelled or resumed.
    func claim() -> Bool {
        state.withLock { state in
            switch state {
            case .created: state = .ended(wasResumed: true)
            case .suspended(let continuation): state = .claimed(continuation)
            case .claimed, .ended: return false
            }
            return true
        }
    }

    /// True if the waiter has been resumed or cancelled.
    var hasEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    private func cancel() {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            switch state {
            case .created: state = .ended(wasResumed: false)
            case .suspended(let continuation):
                state = .ended(wasResumed: false)
                return continuation
            case .claimed, .ended: break
            }
            return nil
        }
        continuation?.resume(returning: false)
    }
}
