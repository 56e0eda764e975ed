import Concurrency
import DocumentModel
import Foundation
import Synchronization
import Testing

@testable import StorageIO

/// Queues to which more calls come than their threads can do.
@Suite("Overloaded work queues", .timeLimit(.minutes(10)))
struct WorkQueueOverloadTests {
    /// The order in which jobs have begun.
    private final class Order: Sendable {
        private let numbers = Mutex<[Int]>([])

        func append(_ number: Int) {
            numbers.withLock { $0.append(number) }
        }

        var all: [Int] { numbers.withLock(\.self) }
    }

    /// The kind of a job.
    private enum Kind {
        case call
        /// A part of a call whose work has begun.
        case begun
        /// Never refused.
        case other
        case low

        var admission: CallAdmission? {
            switch self {
            case .other, .low: return nil
            case .call: return CallAdmission(queueTime: .seconds(3_600))
            case .begun:
                let admission = CallAdmission(queueTime: .seconds(3_600))
                _ = admission.begin(after: Stopwatch())
                return admission
            }
        }
    }

    /// Blocks a queue of one thread while jobs are added, and for a time afterward. Returns the order in which the jobs began.
    ///
    /// - Parameter kinds: The kinds of the jobs, which are numbered in their order.
    private func order(
        of kinds: [Kind],
        on queue: WorkQueue,
        waiting milliseconds: UInt32
    ) async -> [Int] {
        let order = Order()
        let mayEnd = DispatchSemaphore(value: 0)
        await onThread {
            let isStarted = DispatchSemaphore(value: 0)
            queue.submit {
                isStarted.signal()
                mayEnd.wait()
                usleep(milliseconds * 1_000)
            }
            isStarted.wait()
            let jobs = DispatchGroup()
            for (number, kind) in kinds.enumerated() {
                jobs.enter()
                CallAdmission.$current.withValue(kind.admission) {
                    queue.submitForCall(kind == .low ? .low : .normal) { _ in
                        order.append(number)
                        jobs.leave()
                    }
                }
            }
            mayEnd.signal()
            jobs.wait()
        }
        return order.all
    }

    /// Runs a function that blocks on a thread of its own, which does not depend on what other tests do.
    private func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                body()
                continuation.resume()
            }
        }
    }

    @Test func `The newest jobs are first once the oldest has waited for long, and only on a queue that says so`() async {
        let jobs = [Kind](repeating: .call, count: 20)
        let overloaded = WorkQueue(label: "a", width: 1, order: .newestFirstUnderOverload)
        #expect(await order(of: jobs, on: overloaded, waiting: 300) == Array((0..<20).reversed()))
        let plain = WorkQueue(label: "b", width: 1)
        #expect(await order(of: jobs, on: plain, waiting: 300) == Array(0..<20))
    }

    @Test func `Jobs of low priority are last, and are not forgotten`() async {
        let queue = WorkQueue(label: "a", width: 1)
        #expect(await order(of: [.low, .call, .low, .other], on: queue, waiting: 0) == [1, 3, 0, 2])
    }

    @Test func `A call that has begun is finished first, and jobs that are never refused alternate with new calls`() async {
        let queue = WorkQueue(label: "a", width: 1, order: .newestFirstUnderOverload)
        let jobs: [Kind] = [.call, .call, .call, .other, .other, .begun, .begun]
        let order = await order(of: jobs, on: queue, waiting: 300)
        #expect(Array(order.prefix(2)) == [5, 6])
        #expect(order.dropFirst(2).filter { $0 < 3 } == [2, 1, 0])
        #expect(order.dropFirst(2).filter { $0 > 2 } == [3, 4])
        #expect(order.dropFirst(2).prefix(4).filter { $0 < 3 }.count == 2)
    }

    @Test func `A call that has waited too long is refused before its work, and no other`() async throws {
        let refusalCount = Mutex(0)
        let queue = WorkQueue(label: "a", width: 1, order: .newestFirstUnderOverload)
        let work = { @Sendable () throws(StatusError) in true }
        let late = CallAdmission(queueTime: .zero) { refusalCount.withLock { $0 += 1 } }
        let error = await #expect(throws: StatusError.self) {
            _ = try await CallAdmission.$current.withValue(late) { () async throws in try await queue.run(work) }
        }
        #expect(error?.code == .unavailable)
        let delay = try #require(error?.retryAfter)
        #expect((.milliseconds(800) ... .milliseconds(1_200)).contains(delay))
        #expect(error?.isExecuted == false)
        // No other part of it begins either, and it counts once.
        await #expect(throws: StatusError.self) {
            _ = try await CallAdmission.$current.withValue(late) { () async throws in try await queue.run(work) }
        }
        #expect(late.begin(after: Stopwatch()) == .queueTime)
        #expect(refusalCount.withLock(\.self) == 1)
        let begun = CallAdmission(queueTime: .seconds(3_600))
        #expect(begun.begin(after: Stopwatch()) == nil)
        let cancelled = CallAdmission(queueTime: .seconds(3_600), timeout: .zero) { Issue.record("It counts as overload") }
        let deadlineError = await #expect(throws: StatusError.self) {
            _ = try await CallAdmission.$current.withValue(cancelled) { () async throws in try await queue.run(work) }
        }
        #expect(deadlineError?.code == .deadlineExceeded && deadlineError?.retryAfter == nil)
        let ended = CallAdmission(queueTime: .zero)
        ended.end()
        for admission in [nil, begun, ended, CallAdmission(queueTime: .seconds(3_600))] {
            let isDone = try await CallAdmission.$current.withValue(admission) { () async throws in try await queue.run(work) }
            #expect(isDone)
        }
    }

    @Test func `A call that has waited too long is refused while no thread is free`() async {
        let queue = WorkQueue(label: "a", width: 1)
        let mayEnd = DispatchSemaphore(value: 0)
        // As a thread that waits for a disk which does not answer.
        queue.submit { mayEnd.wait() }
        let work = { @Sendable () throws(StatusError) in true }
        await withTaskGroup(of: Void.self) { group in
            for priority in [WorkQueue.Priority.normal, .low, .normal] {
                group.addTask {
                    let late = CallAdmission(queueTime: .zero)
                    let error = await #expect(throws: StatusError.self) {
                        _ = try await CallAdmission.$current.withValue(late) { () async throws in
                            try await queue.run(priority: priority, work)
                        }
                    }
                    #expect(error?.code == .unavailable && error?.isExecuted == false)
                }
            }
        }
        mayEnd.signal()
        #expect((try? await queue.run(work)) == true)
    }

    // MARK: - Goodput

    /// The results of calls.
    private struct Results {
        /// The durations of the calls that were done.
        var durations: [Duration] = []
        var refusedCount = 0
        /// True once the measurement is over: calls that end later are not counted.
        var isOver = false

        /// The duration that all but a hundredth of the calls stayed below.
        var p99: Duration { durations.isEmpty ? .seconds(3_600) : durations.sorted()[(durations.count - 1) * 99 / 100] }
    }

    /// The calls of a measurement. They are added without tasks, so that the capacity does not depend on what other tests do.
    private final class Load: Sendable {
        private let queue: WorkQueue
        private let queueTime: Duration
        private let pending = DispatchGroup()
        private let results = Mutex(Results())

        init(on queue: WorkQueue, queueTime: Duration) {
            self.queue = queue
            self.queueTime = queueTime
        }

        /// Adds a call of 5 ms.
        ///
        /// - Parameter onEnd: Called when it ends, before the load counts as done.
        func addCall(isMeasured: Bool = true, onEnd: @escaping @Sendable () -> Void = {}) {
            let time = Stopwatch()
            pending.enter()
            CallAdmission.$current.withValue(CallAdmission(queueTime: queueTime)) {
                queue.submitForCall(.normal) { [self] refusal in
                    // Sleeps, so that the capacity does not depend on the processors that other tests leave.
                    if refusal == nil { usleep(5_000) }
                    if isMeasured {
                        results.withLock { results in
                            guard !results.isOver else { return }
                            if refusal == nil {
                                results.durations.append(.nanoseconds(time.nanoseconds))
                            } else {
                                results.refusedCount += 1
                            }
                        }
                    }
                    onEnd()
                    pending.leave()
                }
            }
        }

        /// Ends the measurement, and waits until all calls have ended. Blocks.
        func finish() {
            results.withLock { $0.isOver = true }
            pending.wait()
        }

        var all: Results { results.withLock(\.self) }
    }

    /// The duration of a measurement in seconds: 1.5, or `HEARTH_OVERLOAD_SECONDS`.
    private static let seconds = ProcessInfo.processInfo.environment["HEARTH_OVERLOAD_SECONDS"].flatMap { Double($0) } ?? 1.5

    /// Clients that wait for each call before the next: as many as keep the threads busy.
    private func saturate(_ queue: WorkQueue) async -> Results {
        let load = Load(on: queue, queueTime: .seconds(3_600))
        let time = Stopwatch()
        @Sendable func callAgain() {
            guard Double(time.nanoseconds) < Self.seconds * 1e9 else { return }
            load.addCall(onEnd: callAgain)
        }
        await onThread {
            for _ in 0..<16 { callAgain() }
            usleep(UInt32(Self.seconds * 1e6))
            load.finish()
        }
        return load.all
    }

    /// Calls that come at a rate, whether or not earlier ones have ended.
    private func overload(_ queue: WorkQueue, callsPerSecond: Double, queueTime: Duration) async -> Results {
        let load = Load(on: queue, queueTime: queueTime)
        await onThread {
            let time = Stopwatch()
            let warmUp = 0.4
            var count = 0.0
            while true {
                let now = Double(time.nanoseconds) / 1e9
                guard now < warmUp + Self.seconds else { break }
                while count < now * callsPerSecond {
                    load.addCall(isMeasured: now >= warmUp)
                    count += 1
                }
                usleep(500)
            }
            load.finish()
        }
        return load.all
    }

    @Test func `At three times its capacity, a queue does as much, about as fast, and refuses the rest`() async {
        var found: [String] = []
        // A machine that does something else in between says nothing about the queue.
        for _ in 0..<5 {
            let queue = WorkQueue(label: "a", width: 2, order: .newestFirstUnderOverload)
            let peak = await saturate(queue)
            let rate = Double(peak.durations.count) / Self.seconds
            let overloaded = await overload(queue, callsPerSecond: 3 * rate, queueTime: .milliseconds(500))
            let goodput = Double(overloaded.durations.count) / Self.seconds / rate
            let slowdown = overloaded.p99 / peak.p99
            found.append("goodput \(goodput), p99 \(slowdown), \(overloaded.refusedCount) refused")
            if goodput >= 0.8, slowdown <= 2, overloaded.refusedCount > overloaded.durations.count { return }
        }
        Issue.record("\(found)")
    }
}
