package import Concurrency
public import Dispatch
public import DocumentModel
internal import Synchronization

/// A thread pool for blocking work, so that it never occupies a thread of Swift's cooperative pool.
///
/// At most `width` jobs run at a time; ``beginLongJob(limit:)`` adds a thread for each long job. They start in submission order.
///
/// A queue of jobs for clients may be ``Order/newestFirstUnderOverload``. When more jobs arrive than its threads can do, a queue in
/// submission order makes all of them wait until none is in time. The newest first are done at once, while the oldest wait until their
/// ``CallAdmission`` ends, and are refused then: as much is done as without the overload, about as fast. This is adaptive LIFO, as in
/// B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015; its controlled delay is left out, since a burst of calls that a slow disk takes a
/// second for is no overload.
///
/// A call that has waited too long is refused although no thread is free, as when all of them wait for a disk that does not answer.
@usableFromInline
package final class WorkQueue: Sendable {
    /// The order of the jobs that wait.
    package enum Order: Sendable {
        case submission
        /// Calls whose work has begun first, then alternately those that wait for their work and jobs that are never refused. Of the
        /// calls that wait, the newest first while the oldest has waited for more than ``overloadTime``; all others in their order.
        case newestFirstUnderOverload
    }

    /// The urgency of a job.
    @usableFromInline
    package enum Priority: Sendable {
        case normal
        /// Begins when no other job waits, or when it has waited for ``maximumWait``.
        case low
    }

    private struct Job {
        /// Does the work, or passes on the error for which it is refused.
        let body: @Sendable (_ refusal: StatusError?) -> Void
        /// The call that the work is for; `nil` for work that is never refused.
        let admission: CallAdmission?
        let time = Stopwatch()

        /// True if the job is to be refused.
        var isLate: Bool { admission?.isLate(after: time) ?? false }
    }

    /// The jobs that wait.
    private struct Jobs {
        let order: Order
        /// The calls that wait for their work, and all jobs of a queue in submission order.
        private var waiting: ArraySlice<Job> = []
        /// The parts of calls whose work has begun.
        private var begun: ArraySlice<Job> = []
        /// The jobs that are never refused.
        private var others: ArraySlice<Job> = []
        private var low: ArraySlice<Job> = []
        private var isTurnOfOthers = false

        init(order: Order) {
            self.order = order
        }

        /// True if a job that may be refused waits.
        var hasCalls: Bool { waiting.contains { $0.admission != nil } || low.contains { $0.admission != nil } }

        /// Removes the jobs that are to be refused.
        mutating func removeLate() -> [Job] {
            waiting.removeAndReturn(where: \.isLate) + low.removeAndReturn(where: \.isLate)
        }

        mutating func append(_ job: Job, _ priority: Priority) {
            switch (priority, order, job.admission?.isWaiting) {
            case (.low, _, _): low.append(job)
            case (.normal, .submission, _), (.normal, _, true): waiting.append(job)
            case (.normal, _, false): begun.append(job)
            case (.normal, _, nil): others.append(job)
            }
        }

        /// Removes the next job.
        mutating func next() -> Job? {
            if let job = low.first, waiting.isEmpty && begun.isEmpty && others.isEmpty || Self.isDue(job) {
                return low.takeFirst()
            }
            if let job = begun.takeFirst() { return job }
            isTurnOfOthers.toggle()
            return isTurnOfOthers ? others.takeFirst() ?? nextWaiting() : nextWaiting() ?? others.takeFirst()
        }

        private mutating func nextWaiting() -> Job? {
            guard order == .newestFirstUnderOverload, let oldest = waiting.first, oldest.time.nanoseconds > overloadTime,
                !oldest.isLate
            else { return waiting.takeFirst() }
            return waiting.popLast()
        }

        /// Returns whether a job of low priority must wait no longer: because it is to be refused, or because it can't be.
        private static func isDue(_ job: Job) -> Bool {
            job.isLate || job.admission?.isWaiting != true && job.time.nanoseconds > maximumWait
        }
    }

    private struct State {
        var jobs: Jobs
        /// The idle threads' queues.
        var idle: [DispatchQueue]
        /// The number of threads, busy and idle.
        var count: Int
        /// The number of long jobs in progress.
        var longCount = 0
        /// True while ``refuseLateJobs()`` is scheduled.
        var isWatched = false
    }

    private let state: Mutex<State>
    private let width: Int
    private let onStart: (@Sendable (_ nanoseconds: UInt64) -> Void)?
    private let makeQueue: @Sendable () -> DispatchQueue

    /// The time for which the oldest job waits in an overloaded queue: the interval that CoDel tolerates (RFC 8289, 4.2).
    private static let overloadTime: UInt64 = 100_000_000
    /// The time after which a job of low priority begins before others, if it cannot be refused.
    private static let maximumWait: UInt64 = 2_000_000_000
    /// The time between two looks for jobs to be refused while no thread is free.
    private static let lateInterval = DispatchTimeInterval.milliseconds(250)
    private static let lateQueue = DispatchQueue(label: "hearth.queues.late")

    /// - Parameters:
    ///   - label: The label of the threads' dispatch queues, for debuggers.
    ///   - width: The number of threads.
    ///   - qos: The quality-of-service class of the work.
    ///   - order: The order of the jobs.
    ///   - onStart: Called with the time that each job has waited, for statistics.
    package init(
        label: String,
        width: Int,
        qos: DispatchQoS = .unspecified,
        order: Order = .submission,
        onStart: (@Sendable (_ nanoseconds: UInt64) -> Void)? = nil
    ) {
        // Serial queues, because Dispatch gives each one its own thread, while concurrent queues share one thread per processor
        // with Swift's tasks.
        let makeQueue = { @Sendable (label: String) in
            let queue = DispatchQueue(label: label, qos: qos)
            queue.setSpecific(key: Self.isThreadOfQueue, value: true)
            return queue
        }
        state = Mutex(State(jobs: Jobs(order: order), idle: (0..<width).map { makeQueue("\(label).\($0)") }, count: width))
        self.makeQueue = { makeQueue(label) }
        self.width = width
        self.onStart = onStart
    }

    /// Set on the dispatch queues of every `WorkQueue`.
    @usableFromInline
    package static let isThreadOfQueue = DispatchSpecificKey<Bool>()

    /// Runs `work` on the next free thread and returns its result.
    ///
    /// - Throws: `.unavailable` or `.deadlineExceeded`, before the work, if the call of the current task has waited too long; the errors
    ///   of `work`.
    @inlinable
    package func run<Result: Sendable>(
        priority: Priority = .normal,
        _ work: @escaping @Sendable () throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await withCheckedContinuation { continuation in
            submitForCall(priority) { refusal in
                continuation.resume(
                    returning: Swift.Result { () throws(StatusError) in
                        if let refusal { throw refusal }
                        return try work()
                    }
                )
            }
        }.get()
    }

    /// Runs short work as ``run(priority:_:)`` does, or inline if the caller is already on a thread of a work queue.
    ///
    /// Such a thread may block, and two thread switches would take longer than the work.
    @inlinable
    package func runInline<Result: Sendable>(
        _ work: @escaping @Sendable () throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        guard DispatchQueue.getSpecific(key: Self.isThreadOfQueue) == true else { return try await run(work) }
        return try work()
    }

    /// Enqueues a job, which is never refused; returns immediately.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        enqueue(Job(body: { _ in job() }, admission: nil), .normal)
    }

    /// Enqueues a job for the call of the current task; returns immediately.
    @usableFromInline
    func submitForCall(_ priority: Priority, _ job: @escaping @Sendable (_ refusal: StatusError?) -> Void) {
        enqueue(Job(body: job, admission: CallAdmission.current), priority)
    }

    private func enqueue(_ job: Job, _ priority: Priority) {
        let (idle, isToBeWatched) = state.withLock { state -> (DispatchQueue?, Bool) in
            state.jobs.append(job, priority)
            if let idle = state.idle.popLast() { return (idle, false) }
            guard job.admission != nil, !state.isWatched else { return (nil, false) }
            state.isWatched = true
            return (nil, true)
        }
        if let idle { idle.async { self.drain(on: idle) } }
        if isToBeWatched { refuseLateJobs() }
    }

    /// Refuses the calls that wait too long, until none waits.
    private func refuseLateJobs() {
        Self.lateQueue.asyncAfter(deadline: .now() + Self.lateInterval) { [weak self] in
            guard let self else { return }
            let (late, isWatched) = state.withLock { state in
                let late = state.jobs.removeLate()
                state.isWatched = state.jobs.hasCalls
                return (late, state.isWatched)
            }
            for job in late {
                if let refusal = job.admission?.begin(after: job.time) {
                    onStart?(job.time.nanoseconds)
                    job.body(StatusError(refusing: refusal))
                } else {
                    // The call has ended meanwhile.
                    enqueue(job, .normal)
                }
            }
            if isWatched { refuseLateJobs() }
        }
    }

    /// Adds a thread until ``endLongJob()``, so that a long job on this queue does not delay the others.
    ///
    /// - Returns: `false`, without adding a thread, if `limit` long jobs are already in progress.
    package func beginLongJob(limit: Int) -> Bool {
        let (isGranted, added) = state.withLock { state -> (Bool, DispatchQueue?) in
            guard state.longCount < limit else { return (false, nil) }
            state.longCount += 1
            guard state.count < width + state.longCount else { return (true, nil) }
            state.count += 1
            return (true, makeQueue())
        }
        if let added { added.async { self.drain(on: added) } }
        return isGranted
    }

    /// Ends a long job: the next thread that becomes idle exits.
    package func endLongJob() {
        state.withLock { $0.longCount -= 1 }
    }

    private func drain(on queue: DispatchQueue) {
        while let job = next(on: queue) {
            onStart?(job.time.nanoseconds)
            job.body(job.admission?.begin(after: job.time).map { StatusError(refusing: $0) })
        }
    }

    /// Dequeues the next job; without one, marks the thread as idle or retires it.
    private func next(on queue: DispatchQueue) -> Job? {
        state.withLock { state in
            if state.count > width + state.longCount {
                state.count -= 1
                return nil
            }
            if let job = state.jobs.next() { return job }
            state.idle.append(queue)
            return nil
        }
    }
}

extension StatusError {
    /// Creates the error for a call that has waited too long, before its work.
    package init(refusing refusal: CallAdmission.Refusal) {
        switch refusal {
        case .queueTime:
            self.init(.unavailable, refusal.message)
            retryAfter = CallAdmission.Refusal.retryDelay()
        case .deadline: self.init(.deadlineExceeded, refusal.message)
        }
        isExecuted = false
    }
}

extension ArraySlice {
    /// Removes the first element, and frees the elements that were removed before once there are no more: a slice keeps them, and what
    /// they retain.
    fileprivate mutating func takeFirst() -> Element? {
        let first = popFirst()
        if isEmpty { self = [] }
        return first
    }
}
