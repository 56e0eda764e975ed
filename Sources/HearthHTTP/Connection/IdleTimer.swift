import NIOCore

/// A timer that fires when a connection has been idle for a time. Used on the event loop.
///
/// Activity only stores the time: rescheduling at each request would cost a search through all timers of the event loop.
final class IdleTimer {
    private let timeout: TimeAmount
    private var check: Scheduled<Void>?
    private var lastActivity = NIODeadline.distantPast

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    func recordActivity(at time: NIODeadline) {
        lastActivity = time
    }

    /// Starts the timer, with an activity.
    ///
    /// - Parameters:
    ///   - isBusy: Returns whether the connection has a request, which counts as activity.
    ///   - onIdle: Called once, unless the timer is stopped.
    func start(on eventLoop: any EventLoop, isBusy: @escaping () -> Bool, onIdle: @escaping () -> Void) {
        lastActivity = eventLoop.now
        schedule(on: eventLoop, isBusy: isBusy, onIdle: onIdle)
    }

    private func schedule(on eventLoop: any EventLoop, isBusy: @escaping () -> Bool, onIdle: @escaping () -> Void) {
        check = eventLoop.assumeIsolated().scheduleTask(deadline: lastActivity + timeout) {
            if isBusy() { self.lastActivity = eventLoop.now }
            if self.lastActivity + self.timeout <= eventLoop.now { return onIdle() }
            self.schedule(on: eventLoop, isBusy: isBusy, onIdle: onIdle)
        }
    }

    func stop() {
        check?.cancel()
        check = nil
    }
}
