import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// The last channel handler of a connection: assembles requests, passes them to the responder one at a time, and pauses reading
/// under backpressure.
///
/// A request whose body came with its head, as most do, is passed on as a whole. A larger body is passed on as a stream while it
/// arrives.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The request being received.
    private enum InboundRequest {
        case none
        /// A head, with the part of its body that came in the same read.
        case head(HTTPRequestHead, body: ByteBuffer?)
        /// A body that is passed on as it arrives.
        case body(RequestBodyStream)
        /// A body whose reader has ended; its remaining parts are discarded.
        case unread
    }

    /// An inbound event that waits for earlier requests to be answered.
    private enum InboundEvent {
        case part(HTTPServerRequestPart)
        case error(any Error)
    }

    private let responder: ConnectionResponder
    private let peer: IPAddress?
    private let executor: EventLoopExecutor
    private let writer: ConnectionWriter
    /// Completed when the connection is closed and its last request has been processed.
    private let finished: EventLoopPromise<Void>
    /// `nil` once the handler has been removed.
    private var context: ChannelHandlerContext?
    private var inbound = InboundRequest.none
    private var pendingEvents: ArraySlice<InboundEvent> = []
    /// The task that responds to the current request.
    private var task: Task<Void, Never>?
    /// The number of bodies passed on as streams, which identifies the last one.
    private var bodyStreamCount = 0
    /// True if the reader of the current body cannot take more of it.
    private var isBodyFull = false
    /// True if a read was requested while reading was paused.
    private var isReadDeferred = false
    private var isCancelled = false
    private var isClosed = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - peer: The address at the other end of the connection; `nil` for a Unix domain socket.
    ///   - finished: Completed when the connection is closed and its last request has been processed.
    init(_ responder: ConnectionResponder, channel: any Channel, peer: IPAddress?, finished: EventLoopPromise<Void>) {
        self.responder = responder
        self.peer = peer
        self.executor = EventLoopExecutor(channel.eventLoop)
        self.writer = ConnectionWriter(channel)
        self.finished = finished
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    // MARK: - Reads

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(.part(unwrapInboundIn(data)), context: context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        streamIncompleteBody(context: context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if canRead { context.read() } else { isReadDeferred = true }
    }

    private var canRead: Bool {
        if case .unread = inbound { return false }
        return pendingEvents.isEmpty && !isBodyFull
    }

    private func readIfDeferred(context: ChannelHandlerContext) {
        guard isReadDeferred, canRead else { return }
        isReadDeferred = false
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        receive(.error(error), context: context)
    }

    private func receive(_ event: InboundEvent, context: ChannelHandlerContext) {
        guard pendingEvents.isEmpty, canProcessEvents else { return pendingEvents.append(event) }
        process(event, context: context)
    }

    /// True if the next event is not that of a request behind the one being answered.
    private var canProcessEvents: Bool {
        guard task != nil else { return true }
        return switch inbound {
        case .none, .head: false
        case .body, .unread: true
        }
    }

    private func process(_ event: InboundEvent, context: ChannelHandlerContext) {
        switch event {
        case .part(.head(let head)):
            inbound = .head(head, body: nil)
        case .part(.body(let part)):
            receiveBody(part)
        case .part(.end):
            receiveEnd(context: context)
        case .error(let error):
            receive(error, context: context)
        }
    }

    private func receiveBody(_ part: ByteBuffer) {
        switch inbound {
        case .head(let head, var body):
            // Releases the buffer, so that the append below does not copy it.
            inbound = .none
            body.setOrWriteImmutableBuffer(part)
            inbound = .head(head, body: body)
        case .body(let stream):
            isBodyFull = !stream.yield(part)
        case .none, .unread:
            break
        }
    }

    private func receiveEnd(context: ChannelHandlerContext) {
        let received = inbound
        inbound = .none
        isBodyFull = false
        switch received {
        case .head(let head, let body):
            let body = body ?? ByteBuffer()
            start(head, RequestBody(buffer: body), receivedBodyBytes: body.readableBytes, context: context)
        case .body(let stream):
            stream.finish()
        case .none, .unread:
            break
        }
    }

    /// Passes an error to the reader of the current body, or responds to a malformed head.
    private func receive(_ error: any Error, context: ChannelHandlerContext) {
        streamIncompleteBody(context: context)
        switch inbound {
        case .body(let stream):
            inbound = .unread
            stream.finish(error)
        case .unread where task != nil:
            // The response being prepared closes the connection.
            break
        case .none where error is HTTPParserError:
            // ``ConnectionHandler`` replaces the response and closes the connection.
            context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .badRequest))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .none, .head, .unread:
            context.close(promise: nil)
        }
    }

    /// Begins to respond to a request whose body will arrive in later reads.
    private func streamIncompleteBody(context: ChannelHandlerContext) {
        guard case .head(let head, let part) = inbound else { return }
        bodyStreamCount += 1
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let (stream, body) = RequestBodyStream.makeStream { [eventLoop = context.eventLoop, id = bodyStreamCount] demand in
            eventLoop.execute { handler.value.handle(demand, ofBody: id) }
        }
        inbound = .body(stream)
        if let part { isBodyFull = !stream.yield(part) }
        start(head, body, receivedBodyBytes: nil, context: context)
    }

    private func handle(_ demand: RequestBodyStream.Demand, ofBody id: Int) {
        // The reader of an earlier body may end after its response.
        guard id == bodyStreamCount else { return }
        isBodyFull = false
        if case .nothing = demand, case .body(let stream) = inbound {
            inbound = .unread
            stream.finish()
        }
        if let context { readIfDeferred(context: context) }
    }

    // MARK: - Responses

    private func start(_ head: HTTPRequestHead, _ body: RequestBody, receivedBodyBytes: Int?, context: ChannelHandlerContext) {
        guard let head = HTTPRequest(head) else { return context.close(promise: nil) }
        task = responder.respond(
            to: Request(head: head, body: body),
            from: peer,
            receivedBodyBytes: receivedBodyBytes,
            with: writer,
            on: context.channel,
            executor: executor,
            reporting: report(on: context.eventLoop)
        )
        if isCancelled { task?.cancel() }
    }

    /// Returns a function that passes the progress of a response on, from any thread.
    private func report(on eventLoop: any EventLoop) -> @Sendable (ConnectionResponder.Progress) -> Void {
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        return { progress in
            if eventLoop.inEventLoop {
                handler.value.handle(progress)
            } else {
                eventLoop.execute { handler.value.handle(progress) }
            }
        }
    }

    private func handle(_ progress: ConnectionResponder.Progress) {
        if case .wroteHead(let body) = progress {
            // On the event loop even if the connection is closed by now: the task notices.
            task = responder.write(body, to: writer, reporting: report(on: executor.eventLoop))
            if isCancelled { task?.cancel() }
            return
        }
        task = nil
        guard !isClosed, let context else { return finished.succeed() }
        if case .failed = progress { return context.close(promise: nil) }
        processPendingEvents(context: context)
    }

    private func processPendingEvents(context: ChannelHandlerContext) {
        while canProcessEvents, let event = pendingEvents.popFirst() { process(event, context: context) }
        // A slice retains the elements that were removed from it.
        if pendingEvents.isEmpty { pendingEvents = [] }
        streamIncompleteBody(context: context)
        readIfDeferred(context: context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writer.setWritable(context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    // MARK: - Close

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is LastResponseEvent {
            pendingEvents = []
            // A client that disconnects is noticed only while reading.
            readIfDeferred(context: context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Cancels the current request, and closes the connection after its response.
    func cancel() {
        isCancelled = true
        task?.cancel()
        context?.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    func channelInactive(context: ChannelHandlerContext) {
        close()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        close()
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        pendingEvents = []
        writer.close()
        if case .body(let stream) = inbound { stream.finish(ChannelError.ioOnClosedChannel) }
        inbound = .none
        if task == nil { finished.succeed() }
    }
}

/// The event that the head of a connection's last response has been written. Requests behind it are not processed
/// (RFC 9112, 9.6).
struct LastResponseEvent {}
