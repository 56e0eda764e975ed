import HTTPTypes
import NIOCore
import NIOHTTP1

/// Does on a connection what ``ConnectionState`` says, and closes it when the client keeps it waiting for too long.
///
/// What is wrong with a request before it is one, or with a connection as such, is answered here, in the form that all other
/// failures have.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    var state: ConnectionState
    var requestLine = RequestLine()
    var headDeadline: Deadline
    var bodyDeadline: Deadline
    var stall: StallDetector
    var stallCheck: Scheduled<Void>?
    let configuration: ConnectionConfiguration
    private let isAdmitted: Bool
    /// What the client is told of a head that can't be read.
    private var unreadableHead: HTTPFailure?
    private var lingering: Scheduled<Void>?

    /// - Parameter isAdmitted: False for a connection too many, which is told so and closed.
    init(_ configuration: ConnectionConfiguration, isAdmitted: Bool) {
        self.configuration = configuration
        self.isAdmitted = isAdmitted
        self.state = ConnectionState(maximumBodyBytes: configuration.maximumBodyBytes)
        self.headDeadline = Deadline(configuration.headTimeout)
        self.bodyDeadline = Deadline(configuration.bodyTimeout)
        self.stall = StallDetector(timeout: configuration.stallTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        lingering?.cancel()
        stallCheck?.cancel()
        headDeadline.stop()
        bodyDeadline.stop()
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if !isAdmitted { answer(.tooManyConnections(limit: configuration.slots.limit), context: context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = data
        let action: ConnectionState.RequestAction
        switch unwrapInboundIn(data) {
        case .head(var head):
            headDeadline.stop()
            requestLine = RequestLine()
            head.resolveTarget()
            action = state.receive(head)
            data = wrapInboundOut(.head(head))
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
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        updateHeadDeadline(context: context)
        updateBodyDeadline(context: context)
        // Who handles requests has stopped reading; what comes now is only to be taken off the socket.
        if state.isClosing { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let arrival as Arrival:
            // Of no concern to anybody else.
            return noteArrival(of: arrival.bytes)
        case ChannelEvent.inputClosed:
            let isLeaving = state.inputClosed()
            if isLeaving || lingering != nil { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent:
            if state.stop() { context.close(promise: nil) }
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError {
            headDeadline.stop()
            unreadableHead = HTTPFailure(error, isTargetTooLong: requestLine.length > ConnectionConfiguration.maximumHeadBytes)
        }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head where state.isWithoutRequest && unreadableHead != nil:
            // The answer comes in its turn, but says no more than 400.
            unreadableHead.map { writeHeadAndBody(of: $0, context: context) }
            promise?.succeed()
        case .head(let head):
            write(head, context: context, promise: promise)
        case .body where state.sendsBody:
            context.write(data, promise: promise)
        case .body:
            promise?.succeed()
        case .end:
            writeEnd(data, context: context, promise: promise)
        }
    }

    private func write(_ head: HTTPResponseHead, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        var head = head
        state.send(&head)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private func writeEnd(_ data: NIOAny, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        defer { updateBodyDeadline(context: context) }
        switch state.sendEnd() {
        case .keepOpen:
            context.write(data, promise: promise)
        case .keepOpenAndContinue:
            context.write(data, promise: promise)
            writeContinue(context: context)
        case .close:
            let promise = promise ?? context.eventLoop.makePromise()
            promise.futureResult.assumeIsolated().whenComplete { _ in self.linger(context: context) }
            context.write(data, promise: promise)
        }
    }

    private func writeContinue(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    /// Closes the connection, after what the client still sends has been read for a while: closing with unread bytes resets
    /// the connection, and the client would lose the response.
    private func linger(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        guard isAdmitted, !state.isInputClosed else { return context.close(promise: nil) }
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.lingerTimeout) {
            context.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
        context.read()
    }
}

extension ConnectionHandler {
    /// Answers a client that has no request to be answered, and closes the connection.
    func answer(_ failure: HTTPFailure, context: ChannelHandlerContext) {
        guard !state.isClosing else { return }
        writeHeadAndBody(of: failure, context: context)
        writeEnd(wrapOutboundOut(.end(nil)), context: context, promise: nil)
        context.flush()
    }

    private func writeHeadAndBody(of failure: HTTPFailure, context: ChannelHandlerContext) {
        let body = failure.json(toCall: false)
        var fields = ResponseMiddleware.headers
        fields.append(contentsOf: failure.headers)
        fields[.contentType] = "application/json"
        fields[.date] = configuration.date.httpText
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
