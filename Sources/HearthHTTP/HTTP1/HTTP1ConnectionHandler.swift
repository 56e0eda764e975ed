import HTTPTypes
import NIOCore
import NIOHTTP1

/// The last channel handler of an HTTP/1 connection: performs the actions of ``HTTP1ConnectionState``, enforces the timeouts of the
/// connection, and pauses reading under backpressure.
///
/// It responds to malformed requests and rejected connections itself, in the same form as all other errors.
final class HTTP1ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// `nil` once the handler has been removed.
    private var context: ChannelHandlerContext?
    private var state: HTTP1ConnectionState
    private var requestLine = RequestLineCounter()
    private var headDeadline: RequestDeadline
    private let bodyTimer: BodyRateTimer
    private let idleTimer: IdleTimer
    private let stallMonitor: StallMonitor
    private var lingeringClose: LingeringClose
    private let connection: ClientConnection
    private let configuration: ConnectionConfiguration
    private let requests: RequestDispatcher
    /// The response to a malformed request head.
    private var malformedHeadFailure: HTTPFailure?
    /// The number of complete responses that have not been passed to the kernel.
    private var unsentResponseCount = 0
    /// True if a read was requested while reading was paused.
    private var isReadDeferred = false

    /// The number of bytes of a body that its reader has not read, at which reading from the connection is paused.
    private static let maximumUnreadBytes = 256 << 10

    /// Creates a handler. A connection without a slot gets an error response and is closed.
    init(_ connection: ClientConnection) {
        self.connection = connection
        configuration = connection.configuration
        requests = RequestDispatcher(connection, channel: connection.channel)
        state = HTTP1ConnectionState(maximumBodyBytes: configuration.maximumBodyBytes)
        headDeadline = RequestDeadline(configuration.headTimeout)
        bodyTimer = BodyRateTimer(configuration)
        idleTimer = IdleTimer(configuration.idleTimeout)
        let channel = connection.channel
        stallMonitor = StallMonitor(configuration, of: channel) {
            channel.undeliveredByteCount
        } disconnect: {
            channel.close(promise: nil)
        }
        lingeringClose = LingeringClose(configuration, of: channel)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        requests.setSource(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        requests.close()
        lingeringClose.stop()
        stallMonitor.stop()
        idleTimer.stop()
        headDeadline.stop()
        bodyTimer.stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if case .failure(let limit) = connection.admission { return respond(with: HTTPFailure(limit), context: context) }
        // The quiescing event of a connection accepted during shutdown may have preceded this handler.
        if configuration.shutdown.hasStarted { return context.close(promise: nil) }
        idleTimer.start(on: context.eventLoop) {
            // Responses have their own timeout, which applies while the client does not read.
            self.state.isResponsePending
        } onIdle: {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        requests.close()
        context.fireChannelInactive()
    }

    // MARK: - Reads

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        idleTimer.recordActivity(at: context.eventLoop.now)
        switch unwrapInboundIn(data) {
        case .head(var head):
            headDeadline.stop()
            requestLine = RequestLineCounter()
            head.resolveAbsoluteForm()
            guard let action = receive(head) else { return }
            guard let request = HTTPRequest(head) else { return context.close(promise: nil) }
            perform(action, .head(request), context: context)
        case .body(let part):
            perform(state.receiveBody(part.readableBytes), .body(part), context: context)
        case .end:
            perform(state.receiveEnd(), .end, context: context)
        }
    }

    /// Receives the head of a request. The first of several pending requests makes the connection busy.
    ///
    /// - Returns: `nil` if the connection has made room for another one and is being closed.
    private func receive(_ head: HTTPRequestHead) -> HTTP1ConnectionState.RequestAction? {
        let wasIdle = state.hasNoPendingRequests
        let action = state.receive(head)
        guard wasIdle, !state.hasNoPendingRequests, case .success(let slot) = connection.admission else { return action }
        guard slot.beginRequests() else {
            state.abandonRequests()
            return nil
        }
        return action
    }

    private func perform(
        _ action: HTTP1ConnectionState.RequestAction,
        _ event: RequestDispatcher.Event,
        context: ChannelHandlerContext
    ) {
        switch action {
        case .drop:
            break
        case .forward:
            requests.receive(event)
        case .forwardAndContinue:
            writeContinue(context: context)
            requests.receive(event)
        case .reject:
            malformedHeadFailure = .codedHTTP10Body
            // Responded to in the order of requests.
            requests.receive(.failure(HTTPParserError.invalidHeaderToken))
        }
    }

    /// Receives bytes before the HTTP decoder does.
    func receive(_ bytes: ByteBuffer) {
        if state.isExpectingHead { requestLine.count(bytes) }
        if state.isClosing { lingeringClose.discard(bytes.readableBytes) }
    }

    /// True if the connection has been responded to for the last time.
    var isClosing: Bool { state.isClosing }

    func channelReadComplete(context: ChannelHandlerContext) {
        requests.receiveReadComplete()
        context.fireChannelReadComplete()
        updateHeadDeadline(context: context)
        updateBodyTimer(context: context)
        // Reading is paused; drain the socket.
        if state.isClosing { context.read() }
    }

    func read(context: ChannelHandlerContext) {
        if canRead { context.read() } else { isReadDeferred = true }
    }

    private var canRead: Bool {
        requests.needsInput && requests.unreadByteCount < Self.maximumUnreadBytes
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            let closes = state.inputClosed()
            if closes || lingeringClose.hasStarted { context.close(promise: nil) } else { closeIfDone(context: context) }
        case is ChannelShouldQuiesceEvent:
            if state.shutDown() { context.close(promise: nil) } else { closeIfDone(context: context) }
        case is ConnectionEviction:
            context.close(promise: nil)
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
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
        requests.receive(.failure(error))
    }

    // MARK: - Writes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            write(head, context: context, promise: promise)
        case .body(let part) where state.sendsBody:
            context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: promise)
            stallMonitor.recordWrite(part.readableBytes)
        case .body:
            promise?.succeed()
        case .end(let trailers):
            writeEnd(trailers, context: context, promise: promise)
        }
    }

    private func write(_ head: HTTPResponse, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var head = HTTPResponseHead(head)
        state.send(&head)
        if state.closesAfterResponse {
            // Requests behind the last one are not processed (RFC 9112, 9.6).
            requests.discardPendingRequests()
            // A client that disconnects is noticed only while reading.
            updateInput()
        }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Ends a response. Trailers are sent if its body is chunked; recipients may discard them (RFC 9110, 6.5.1).
    private func writeEnd(_ trailers: HTTPFields?, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        defer { updateBodyTimer(context: context) }
        let action = state.sendEnd()
        idleTimer.recordActivity(at: context.eventLoop.now)
        unsentResponseCount += 1
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.unsentResponseCount -= 1
            // Not earlier: a connection that makes room for another one loses what it has not sent.
            if self.state.hasNoPendingRequests, case .success(let slot) = self.connection.admission { slot.endRequests() }
            if action == .close { self.startLingeringClose(context: context) } else { self.closeIfDone(context: context) }
        }
        context.write(wrapOutboundOut(.end(trailers.map { HTTPHeaders($0) })), promise: promise)
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

    private func startLingeringClose(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        guard case .success = connection.admission, state.lingers else { return context.close(promise: nil) }
        lingeringClose.start()
        context.read()
    }

    /// Sends an error response that belongs to no request, and closes the connection.
    private func respond(with failure: HTTPFailure, context: ChannelHandlerContext) {
        guard !state.isClosing else { return }
        let response = failure.connectionResponse(at: configuration.date.text)
        write(response.head, context: context, promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        writeEnd(nil, context: context, promise: nil)
        context.flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallMonitor.updateWritability()
        requests.writer.setWritable(context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let observation = event as? StreamStallObservation else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        stallMonitor.observe(observation)
        try? context.channel.setUnacknowledgedTimeout(configuration.unacknowledgedStreamTimeout)
        promise?.succeed()
    }

    // MARK: - Shutdown

    /// Cancels the current request, and closes the connection after its response.
    func cancel() {
        requests.cancel()
        context?.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}

extension HTTP1ConnectionHandler: RequestSource {
    func respondToMalformedHead() {
        if let malformedHeadFailure, let context { respond(with: malformedHeadFailure, context: context) }
    }

    func updateInput() {
        guard isReadDeferred, canRead, let context else { return }
        isReadDeferred = false
        context.read()
    }
}

// Timeouts.
extension HTTP1ConnectionHandler {
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

    /// Starts the timeout for a request body when the client may send it, and stops it when the body is complete.
    private func updateBodyTimer(context: ChannelHandlerContext) {
        guard state.isWaitingForBody else { return bodyTimer.stop() }
        bodyTimer.start(on: context.eventLoop) {
            self.state.isWaitingForBody ? self.state.bodyByteCount : nil
        } onTimeout: { failure in
            // The reader of the body receives the error and responds with it.
            self.requests.receive(.failure(failure))
        }
    }
}
