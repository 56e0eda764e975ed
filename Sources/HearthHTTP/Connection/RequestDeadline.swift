import NIOCore

/// A timer for a part of a request that the client is sending.
struct RequestDeadline {
    private let timeout: TimeAmount
    private var task: Scheduled<Void>?
    /// The time at which the timer was started.
    private(set) var start = NIODeadline.distantPast

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Starts the timer unless it is running.
    mutating func start(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        guard task == nil else { return }
        start = eventLoop.now
        task = eventLoop.assumeIsolated().scheduleTask(in: timeout, action)
    }

    /// Reschedules a timer that has fired.
    mutating func extend(to deadline: NIODeadline, on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline, action)
    }

    mutating func stop() {
        task?.cancel()
        task = nil
    }
}
