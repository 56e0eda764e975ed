import NIOCore

/// Bytes that have arrived, before anybody has looked at them.
struct Arrival {
    let bytes: ByteBuffer
}

/// Tells ``ConnectionHandler`` of every arrival: a head that is not complete shows in no other way.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireUserInboundEventTriggered(Arrival(bytes: unwrapInboundIn(data)))
        context.fireChannelRead(data)
    }
}

/// The time that a client has for something.
struct Deadline {
    private let timeout: TimeAmount
    private var task: Scheduled<Void>?
    /// Since when it runs.
    private(set) var start = NIODeadline.distantPast

    init(_ timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Begins to run, unless it runs already.
    mutating func start(on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        guard task == nil else { return }
        start = eventLoop.now
        task = eventLoop.assumeIsolated().scheduleTask(in: timeout, action)
    }

    /// Gives more time to one that is over.
    mutating func extend(to deadline: NIODeadline, on eventLoop: any EventLoop, _ action: @escaping () -> Void) {
        task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline, action)
    }

    mutating func stop() {
        task?.cancel()
        task = nil
    }
}

extension ConnectionHandler {
    func noteArrival(of bytes: ByteBuffer) {
        if state.isReadingHead { requestLine.take(bytes) }
    }

    /// Gives the client the time that a head may take from its first byte on, however often it sends another.
    ///
    /// Called when what has arrived was read: most heads are complete then. To take a deadline back, NIO looks at all timers of the
    /// event loop, and each connection has some.
    func updateHeadDeadline(context: ChannelHandlerContext) {
        if state.isReadingHead, requestLine.length > 0 { startHeadDeadline(context: context) }
    }

    private func startHeadDeadline(context: ChannelHandlerContext) {
        headDeadline.start(on: context.eventLoop) {
            self.headDeadline.stop()
            if self.state.isWithoutRequest {
                self.answer(.lateHead(after: self.configuration.headTimeout), context: context)
            } else {
                // Nothing may have been read for as long as earlier requests are worked on.
                self.startHeadDeadline(context: context)
            }
        }
    }

    /// Gives the client the time that a body may take, from when it is its turn to send it.
    func updateBodyDeadline(context: ChannelHandlerContext) {
        guard state.isWaitingForBody else { return bodyDeadline.stop() }
        bodyDeadline.start(on: context.eventLoop) { self.checkBody(context: context) }
    }

    /// Gives a client whose body comes fast enough more time, and ends the request of any other.
    private func checkBody(context: ChannelHandlerContext) {
        guard state.isWaitingForBody else { return }
        let deadline = bodyDeadline.start + configuration.bodyTimeout(after: state.bodyByteCount)
        guard deadline <= context.eventLoop.now else {
            return bodyDeadline.extend(to: deadline, on: context.eventLoop) { self.checkBody(context: context) }
        }
        // Whoever reads the body gets the error, and answers with it.
        context.fireErrorCaught(HTTPFailure.slowBody(configuration))
    }
}
