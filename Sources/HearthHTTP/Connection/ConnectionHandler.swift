internal import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1

/// The channel handler that performs the actions of ``ConnectionState`` and enforces the timeouts of a connection.
///
/// It responds to malformed requests and rejected connections itself, in the same form as all other errors.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// `nil` once the handler has been removed.
    private var context: ChannelHandlerContext?
    private var state: ConnectionState
    private var requestLine = RequestLineCounter()
    private var headDeadline: RequestDeadline
    private var bodyDeadline: RequestDeadline
    private var stallDetector: StallDetector
    private var stallCheck: Scheduled<Void>?
    /// The number of bytes in response bodies so far.
    private var bodyByteCount = 0
    /// True if the response is a stream that has asked to be told about a stall.
    private var isStream = false
    private var stallObservation: StreamStallObservation?
    private let configuration: ConnectionConfiguration
    private let admission: Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached>
    /// The response to a malformed request head.
    private var malformedHeadFailure: HTTPFailure?
    private var lingering: Scheduled<Void>?
    /// The number of bytes received since the connection was closing.
    private var discardedByteCount = 0
    /// The number of complete responses that have not been passed to the kernel.
    private var unsentResponseCount = 0
    private var idleCheck: Scheduled<Void>?
    /// The time at which a part of a request was received last, or a response completed.
    private var lastActivity = NIODeadline.now()

    /// Creates a handler.
    ///
    /// - Parameter admission: The slot of the connection. A connection without one gets an error response and is closed.
    init(_ configuration: ConnectionConfiguration, _ admission: Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached>) {
        self.configuration = configuration
        self.admission = admission
        self.state = ConnectionState(maximumBodyBytes: configuration.maximumBodyBytes)
        self.headDeadline = RequestDeadline(configuration.headTimeout)
        self.bodyDeadline = RequestDeadline(configuration.bodyTimeout)
        self.stallDetector = StallDetector(timeout: configuration.stallTimeout)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        lingering?.cancel()
        stallCheck?.cancel()
        idleCheck?.cancel()
        headDeadline.stop()
        bodyDeadline.stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if case .failure(let limit) = admission { return respond(with: HTTPFailure(limit), context: context) }
        // The quiescing event of a connection accepted during shutdown may have preceded this handler.
        if configuration.shutdown.hasStarted { return context.close(promise: nil) }
        lastActivity = .now()
        scheduleIdleCheck(at: lastActivity + configuration.idleTimeout, context: context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = data
        let action: ConnectionState.RequestAction
        lastActivity = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head(var head):
            headDeadline.stop()
            requestLine = RequestLineCounter()
            if head.resolveAbsoluteForm() { data = wrapInboundOut(.head(head)) }
            action = receive(head)
        case .body(let part):
            action = state.receiveBody(part.readableBytes)
        case .end:
            action = state.receiveEnd()
        }
        switch action {
        case .drop:
            break
        case .forward:
            context.fireChannelRead(data)
        case .forwardAndContinue:
            writeContinue(context: context)
            context.fireChannelRead(data)
        case .reject:
            malformedHeadFailure = .codedHTTP10Body
            // The request handler responds in request order.
            context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
    }

    /// Receives the head of a request. The first of several pending requests makes the connection busy.
    private func receive(_ head: HTTPRequestHead) -> ConnectionState.RequestAction {
        let wasIdle = state.hasNoPendingRequests
        let action = state.receive(head)
        guard wasIdle, !state.hasNoPendingRequests, case .success(let slot) = admission else { return action }
        guard slot.beginRequests() else {
            // The connection has made room for another one and is being closed.
            state.abandonRequests()
            return .drop
        }
        return action
    }

    /// Receives bytes before the HTTP decoder does.
    func receive(_ bytes: ByteBuffer) {
        if state.isExpectingHead { requestLine.count(bytes) }
        if state.isClosing, let context { discard(bytes.readableBytes, context: context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        updateHeadDeadline(context: context)
        updateBodyDeadline(context: context)
        // The request handler has stopped reading; drain the socket.
        if state.isClosing { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            let closes = state.inputClosed()
            context.fireUserInboundEventTriggered(event)
            if closes || lingering != nil { context.close(promise: nil) } else { closeIfDone(context: context) }
        case is ChannelShouldQuiesceEvent:
            context.fireUserInboundEventTriggered(event)
            if state.shutDown() { context.close(promise: nil) } else { closeIfDone(context: context) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After an error the decoder reports one for every further read.
        if error is ByteToMessageDecoderError { return }
        if let error = error as? HTTPParserError {
            headDeadline.stop()
            malformedHeadFailure = HTTPFailure(
                error,
                isTargetTooLong: requestLine.length > ConnectionConfiguration.maximumHeadBytes
            )
        }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head where state.hasNoPendingRequests && malformedHeadFailure != nil:
            // Replaces NIO's bare 400 response, which arrives in request order.
            malformedHeadFailure.map { writeHeadAndBody(of: $0, context: context) }
            promise?.succeed()
        case .head(let head):
            write(head, context: context, promise: promise)
        case .body(let part) where state.sendsBody:
            bodyByteCount += part.readableBytes
            context.write(data, promise: promise)
            // The kernel accepts much from a stream that nobody reads.
            if isStream, stallCheck == nil { startStallChecks(context: context) }
        case .body:
            promise?.succeed()
        case .end:
            writeEnd(data, context: context, promise: promise)
        }
    }

    private func write(_ head: HTTPResponseHead, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var head = head
        state.send(&head)
        if state.closesAfterResponse { context.fireUserInboundEventTriggered(LastResponseEvent()) }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func writeEnd(_ data: NIOAny, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        defer { updateBodyDeadline(context: context) }
        let action = state.sendEnd()
        lastActivity = context.eventLoop.now
        unsentResponseCount += 1
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unsentResponseCount -= 1
            // Not earlier: a connection that makes room for another one loses what it has not sent.
            if self.state.hasNoPendingRequests, case .success(let slot) = self.admission { slot.endRequests() }
            if action == .close { self.startLingeringClose(context: context) } else { self.closeIfDone(context: context) }
        }
        context.write(data, promise: promise)
        if action == .keepOpenAndContinue { writeContinue(context: context) }
    }

    /// Closes a connection on which no more requests arrive, once all responses have been sent.
    private func closeIfDone(context: ChannelHandlerContext) {
        // The response to a malformed request may be still to come.
        if state.hasAnsweredAllRequests, malformedHeadFailure == nil, unsentResponseCount == 0 { context.close(promise: nil) }
    }

    private func writeContinue(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Performs a lingering close: for a limited time, reads and discards what the client still sends. Closing a socket with
    /// unread bytes resets the connection, and the client could lose the response.
    private func startLingeringClose(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        guard case .success = admission, state.lingers else { return context.close(promise: nil) }
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.lingerTimeout) {
            context.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
        context.read()
    }

    /// Counts bytes that are received while the connection is closing; disconnects a client that sends too many of them.
    private func discard(_ byteCount: Int, context: ChannelHandlerContext) {
        discardedByteCount += byteCount
        guard discardedByteCount > configuration.maximumDiscardedBytes else { return }
        // Makes the close a reset, so that the client stops sending.
        let provider = context.channel as? any SocketOptionProvider
        let option = provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0)) ?? context.eventLoop.makeSucceededVoidFuture()
        option.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    /// Sends an error response that belongs to no request, and closes the connection.
    private func respond(with failure: HTTPFailure, context: ChannelHandlerContext) {
        guard !state.isClosing else { return }
        writeHeadAndBody(of: failure, context: context)
        writeEnd(wrapOutboundOut(.end(nil)), context: context, promise: nil)
        context.flush()
    }

    private func writeHeadAndBody(of failure: HTTPFailure, context: ChannelHandlerContext) {
        let body = failure.json
        var fields = RequestResponder.headers
        fields.append(contentsOf: failure.headers)
        fields[.contentType] = "application/json"
        fields[.date] = configuration.date.text
        fields[.contentLength] = String(body.count)
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: failure.status.code, reasonPhrase: failure.status.reasonPhrase),
            headers: HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        )
        write(head, context: context, promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
}

// Timeouts.
extension ConnectionHandler {
    /// Starts the timeout for a request head at its first byte; later bytes don't extend it.
    ///
    /// Called after a read completes, when most heads are complete: cancelling a timer costs NIO a search through all timers of
    /// the event loop, and every connection has several.
    private func updateHeadDeadline(context: ChannelHandlerContext) {
        if state.isExpectingHead, requestLine.length > 0 { startHeadDeadline(context: context) }
    }

    private func startHeadDeadline(context: ChannelHandlerContext) {
        headDeadline.start(on: context.eventLoop) {
            self.headDeadline.stop()
            if self.state.hasNoPendingRequests {
                self.respond(with: .headTimeout(self.configuration.headTimeout), context: context)
            } else {
                // Reading may have been paused while earlier requests were processed.
                self.startHeadDeadline(context: context)
            }
        }
    }

    private func scheduleIdleCheck(at deadline: NIODeadline, context: ChannelHandlerContext) {
        idleCheck = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            // Responses have their own timeout, which applies while the client does not read.
            if self.state.isResponsePending { self.lastActivity = .now() }
            let deadline = self.lastActivity + self.configuration.idleTimeout
            guard deadline <= .now() else { return self.scheduleIdleCheck(at: deadline, context: context) }
            context.close(promise: nil)
        }
    }

    /// Starts the timeout for a request body when the client may send it, and stops it when the body is complete.
    private func updateBodyDeadline(context: ChannelHandlerContext) {
        guard state.isWaitingForBody else { return bodyDeadline.stop() }
        bodyDeadline.start(on: context.eventLoop) { self.checkBodyRate(context: context) }
    }

    /// Extends the timeout of a body that arrives at the minimum rate, and fails the request otherwise.
    private func checkBodyRate(context: ChannelHandlerContext) {
        guard state.isWaitingForBody else { return }
        let deadline = bodyDeadline.start + configuration.bodyTimeout(after: state.bodyByteCount)
        guard deadline <= context.eventLoop.now else {
            return bodyDeadline.extend(to: deadline, on: context.eventLoop) { self.checkBodyRate(context: context) }
        }
        // The reader of the body receives the error and responds with it.
        context.fireErrorCaught(HTTPFailure.bodyTimeout(configuration))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            // The checks of a stream end when its client has received everything.
            if !isStream { cancelStallChecks() }
        } else if stallCheck == nil {
            startStallChecks(context: context)
        }
        context.fireChannelWritabilityChanged()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let observation = event as? StreamStallObservation else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        isStream = true
        stallObservation = observation
        try? context.channel.syncOptions?.setUnacknowledgedTimeout(configuration.unacknowledgedStreamTimeout)
        promise?.succeed()
    }

    private func startStallChecks(context: ChannelHandlerContext) {
        stallDetector.start(deliveredBytes: bodyByteCount - Self.pendingBytes(of: context.channel), at: .now())
        scheduleStallCheck(context: context)
    }

    private func cancelStallChecks() {
        stallCheck?.cancel()
        stallCheck = nil
    }

    private func scheduleStallCheck(context: ChannelHandlerContext) {
        stallCheck = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.stallCheckInterval) {
            self.checkStall(context: context)
        }
    }

    private func checkStall(context: ChannelHandlerContext) {
        stallCheck = nil
        let pending = Self.pendingBytes(of: context.channel)
        guard pending > 0 else { return }
        let delivered = bodyByteCount - pending
        let isStalled = stallDetector.isStalled(deliveredBytes: delivered, at: .now())
        if !context.channel.isWritable, configuration.shutdown.isGracePeriodOver(at: .now()) {
            context.close(promise: nil)
        } else if isStalled, let observation = stallObservation {
            stallObservation = nil
            stallDetector = StallDetector(timeout: configuration.stallGrace)
            startStallChecks(context: context)
            observation.onStall()
        } else if isStalled {
            context.close(promise: nil)
        } else {
            scheduleStallCheck(context: context)
        }
    }

    /// The number of written bytes that the client's machine has not acknowledged.
    private static func pendingBytes(of channel: any Channel) -> Int {
        ((try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) + unacknowledgedBytes(of: channel)
    }

    /// The number of bytes in the kernel's send buffer.
    private static func unacknowledgedBytes(of channel: any Channel) -> Int {
        let count = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            var count: CInt = 0
            return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        }
        return count ?? 0
    }
}
