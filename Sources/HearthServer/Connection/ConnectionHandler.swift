import NIOCore
import NIOHTTP1

/// Does on a connection what ``ConnectionState`` says, and closes it when the client accepts nothing for too long.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var state: ConnectionState
    private var stall: StallDetector
    private let configuration: ConnectionConfiguration
    private var lingering: Scheduled<Void>?
    private var stallCheck: Scheduled<Void>?

    init(_ configuration: ConnectionConfiguration) {
        self.configuration = configuration
        self.state = ConnectionState(maximumBodyBytes: configuration.maximumBodyBytes)
        self.stall = StallDetector(timeout: configuration.stallTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        lingering?.cancel()
        stallCheck?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let action =
            switch unwrapInboundIn(data) {
            case .head(let head): state.receive(head)
            case .body: state.receiveBody()
            case .end: state.receiveEnd()
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
        // Who handles requests has stopped reading; what comes now is only to be taken off the socket.
        if state.isClosing { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            let isLeaving = state.inputClosed()
            if isLeaving || lingering != nil { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !state.isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            state.send(&head)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where state.sendsBody:
            context.write(data, promise: promise)
        case .body:
            promise?.succeed()
        case .end:
            writeEnd(data, context: context, promise: promise)
        }
    }

    private func writeEnd(_ data: NIOAny, context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
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
        guard !state.isInputClosed else { return context.close(promise: nil) }
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.lingerTimeout) {
            context.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
        context.read()
    }
}

extension ConnectionHandler {
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallCheck?.cancel()
        stallCheck = nil
        if !context.channel.isWritable {
            stall.begin(pendingBytes: Self.pendingBytes(of: context.channel), at: .now())
            scheduleStallCheck(context: context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func scheduleStallCheck(context: ChannelHandlerContext) {
        stallCheck = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.stallCheckInterval) {
            let isStalled = self.stall.isStalled(pendingBytes: Self.pendingBytes(of: context.channel), at: .now())
            if isStalled || self.configuration.shutdown.isOverdue(at: .now()) {
                context.close(promise: nil)
            } else {
                self.scheduleStallCheck(context: context)
            }
        }
    }

    private static func pendingBytes(of channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

/// Finds out whether a client accepts what is sent to it.
struct StallDetector {
    private let timeout: TimeAmount
    private var pendingBytes = 0
    private var lastProgress = NIODeadline.now()

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Begins to look when the client accepts no more for now.
    mutating func begin(pendingBytes: Int, at now: NIODeadline) {
        self.pendingBytes = pendingBytes
        lastProgress = now
    }

    /// Whether nothing was accepted for too long.
    mutating func isStalled(pendingBytes: Int, at now: NIODeadline) -> Bool {
        if pendingBytes < self.pendingBytes {
            lastProgress = now
        }
        self.pendingBytes = pendingBytes
        return now - lastProgress >= timeout
    }
}
