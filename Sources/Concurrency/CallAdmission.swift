internal import Synchronization

/// The time limit of a call for waits in queues, within which its work must begin.
///
/// Work for a client that has waited too long is wasted: the client has given up, or sends the call again. Each queue that a call may
/// wait in asks ``begin(after:)`` before the work, and refuses the call if it is too late. A call whose work has begun is never
/// refused, so that nothing is left half done; one that was refused never begins. Other waits, as for a change or for the index, don't
/// count.
///
/// It travels with the task of the call; work without one, such as that of the server itself, is never refused.
package final class CallAdmission: Sendable {
    /// The reason why a call is refused.
    package enum Refusal: Sendable {
        /// It has waited too long in a queue: the server is overloaded.
        case queueTime
        /// The deadline of the client has passed.
        case deadline
    }

    /// The admission of the current task's call.
    @TaskLocal package static var current: CallAdmission?

    private enum Phase: UInt8, AtomicRepresentable {
        case waiting
        case begun
        case refusedAfterQueueTime
        case refusedAfterDeadline

        var refusal: Refusal? {
            switch self {
            case .waiting, .begun: nil
            case .refusedAfterQueueTime: .queueTime
            case .refusedAfterDeadline: .deadline
            }
        }
    }

    private let time = Stopwatch()
    private let queueTime: UInt64
    private let timeout: UInt64
    private let onRefusal: @Sendable () -> Void
    private let phase = Atomic(Phase.waiting)

    /// Creates the admission of a call that begins now.
    ///
    /// - Parameters:
    ///   - queueTime: The time in a queue after which the work must not begin any more.
    ///   - timeout: The time after which the call is cancelled; `nil` for none.
    ///   - onRefusal: Records, once, that the call is refused because of its time in a queue.
    package init(queueTime: Duration, timeout: Duration? = nil, onRefusal: @escaping @Sendable () -> Void = {}) {
        self.queueTime = queueTime.clampedNanoseconds
        self.timeout = timeout?.clampedNanoseconds ?? .max
        self.onRefusal = onRefusal
    }

    /// True until the work begins, or is refused.
    package var isWaiting: Bool { phase.load(ordering: .relaxed) == .waiting }

    /// Returns whether the work has not begun, and is not to begin after a wait in a queue.
    package func isLate(after waiting: Stopwatch) -> Bool {
        switch phase.load(ordering: .relaxed) {
        case .waiting: lateness(after: waiting) != .waiting
        case .begun: false
        case .refusedAfterQueueTime, .refusedAfterDeadline: true
        }
    }

    /// Begins the work, unless the call has waited too long.
    ///
    /// - Parameter waiting: The time in the queue.
    /// - Returns: The reason why the call must be refused; `nil` if its work has begun.
    package func begin(after waiting: Stopwatch) -> Refusal? {
        let lateness = lateness(after: waiting)
        return leaveWaiting(for: lateness == .waiting ? .begun : lateness)
    }

    /// Refuses the call if it has waited too long; otherwise, it goes on to wait for its work.
    package func refuseIfLate(after waiting: Stopwatch) -> Refusal? {
        let lateness = lateness(after: waiting)
        return lateness == .waiting ? phase.load(ordering: .relaxed).refusal : leaveWaiting(for: lateness)
    }

    /// Ends the call. Tasks that outlive it are not refused.
    package func end() {
        phase.store(.begun, ordering: .relaxed)
    }

    private func lateness(after waiting: Stopwatch) -> Phase {
        if time.nanoseconds > timeout { return .refusedAfterDeadline }
        return waiting.nanoseconds > queueTime ? .refusedAfterQueueTime : .waiting
    }

    /// Enters the next phase, unless the call has left the first one: the parts of a call may wait in several queues at a time.
    private func leaveWaiting(for next: Phase) -> Refusal? {
        let (isExchanged, original) = phase.compareExchange(expected: .waiting, desired: next, ordering: .relaxed)
        guard isExchanged else { return original.refusal }
        if next == .refusedAfterQueueTime { onRefusal() }
        return next.refusal
    }
}

extension Duration {
    fileprivate var clampedNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard (0..<1_000_000_000).contains(seconds) else { return seconds < 0 ? 0 : .max }
        return UInt64(seconds) * 1_000_000_000 + UInt64(max(attoseconds, 0)) / 1_000_000_000
    }
}

extension CallAdmission.Refusal {
    /// The message of the error for the call.
    package var message: String {
        switch self {
        case .queueTime:
            "The server is overloaded: the call has waited too long for its turn, and was not executed. Try again later."
        case .deadline: "The call has waited for its turn until its deadline, and was not executed."
        }
    }

    /// Returns the time after which to try an overloaded server again: about a second. It varies by a fifth, so that clients which were
    /// refused together don't come back together.
    package static func retryDelay() -> Duration { .milliseconds(Int.random(in: 800...1_200)) }
}
