import NIOCore
import Synchronization

/// The live streams of one event loop that have new commits. The frames are sent to them in jobs, without their tasks.
///
/// A job is short, and after it the event loop is left to other work for a time in proportion to it, so that many streams leave
/// most of the loop to calls. The commits of that time are sent together.
final class FrameDeliveryQueue: Sendable {
    private struct Arrivals {
        var deliveries: [NIOLoopBound<any LiveDelivery>] = []
        /// True if a job is scheduled or running.
        var isScheduled = false
    }

    /// The state of the jobs.
    private struct Progress {
        /// The streams that are served next.
        var deliveries: ArraySlice<NIOLoopBound<any LiveDelivery>> = []
        var sent = SentFrames()
        /// The earliest start of the next job.
        var nextStart = NIODeadline.uptimeNanoseconds(0)
    }

    private let arrivals = Mutex(Arrivals())
    private let progress: NIOLoopBoundBox<Progress>
    /// The executor of tasks that wait on the event loop.
    let executor: EventLoopExecutor

    /// The time after which a job serves no further stream.
    private static let maximumJobTime = TimeAmount.milliseconds(2)
    /// The duration of the pause after a job, in relation to the job.
    private static let pauseFactor: Int64 = 4
    /// The maximum pause: a job that took much longer was interrupted.
    private static let maximumPause = TimeAmount.milliseconds(50)

    init(_ eventLoop: any EventLoop) {
        executor = EventLoopExecutor(eventLoop)
        progress = .makeBoxSendingValue(Progress(), eventLoop: eventLoop)
    }

    /// Adds a stream that has new commits. Called on any thread.
    func add(_ delivery: NIOLoopBound<any LiveDelivery>) {
        let schedules = arrivals.withLock { arrivals in
            arrivals.deliveries.append(delivery)
            defer { arrivals.isScheduled = true }
            return !arrivals.isScheduled
        }
        if schedules { executor.eventLoop.execute { self.runWhenDue() } }
    }

    private func runWhenDue() {
        let start = progress.value.nextStart
        guard start > .now() else { return run() }
        executor.eventLoop.scheduleTask(deadline: start) { self.run() }
    }

    private func run() {
        var progress = progress.value
        progress.deliveries += arrivals.withLock { arrivals in
            defer { arrivals.deliveries = [] }
            return arrivals.deliveries
        }
        let start = NIODeadline.now()
        var end = start
        while end - start < Self.maximumJobTime, let delivery = progress.deliveries.popFirst() {
            delivery.value.deliver(sharing: &progress.sent)
            end = .now()
        }
        if progress.deliveries.isEmpty { progress = Progress() }
        progress.nextStart = end + min((end - start) * Self.pauseFactor, Self.maximumPause)
        self.progress.value = progress
        let continues = arrivals.withLock { arrivals in
            arrivals.isScheduled = !progress.deliveries.isEmpty || !arrivals.deliveries.isEmpty
            return arrivals.isScheduled
        }
        if continues { runWhenDue() }
    }
}

/// The frame delivery queues of all event loops.
final class FrameDeliveryQueues: Sendable {
    private let queues = Mutex<[ObjectIdentifier: FrameDeliveryQueue]>([:])

    /// Returns the queue of an event loop.
    func queue(of eventLoop: any EventLoop) -> FrameDeliveryQueue {
        queues.withLock { queues in
            let id = ObjectIdentifier(eventLoop)
            if let queue = queues[id] { return queue }
            let queue = FrameDeliveryQueue(eventLoop)
            queues[id] = queue
            return queue
        }
    }
}
