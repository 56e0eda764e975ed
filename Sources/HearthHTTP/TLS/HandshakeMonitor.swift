import NIOCore
import NIOTLS

/// The first channel handler of a TLS connection: closes one whose handshake takes too long, and answers clients that send HTTP without
/// TLS.
final class HandshakeMonitor: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?
    private var hasReceivedBytes = false

    /// Creates a handler.
    ///
    /// - Parameter timeout: The time limit for the handshake, from the start of the connection.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // Closes behind the handler of TLS, which would first take leave of its client.
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        complete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        complete()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        // A record of TLS begins with its type, which is never a letter, and a request with its method.
        if !hasReceivedBytes, let first = bytes.readableBytesView.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
            return respondWithoutTLS(context)
        }
        hasReceivedBytes = true
        context.fireChannelRead(data)
    }

    private func respondWithoutTLS(_ context: ChannelHandlerContext) {
        let text = "This port requires TLS. Use https:// instead of http://.\n"
        let response = """
            HTTP/1.1 400 Bad Request\r
            Content-Type: text/plain; charset=utf-8\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r
            \(text)
            """
        let eventLoop = context.eventLoop.assumeIsolated()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response))).assumeIsolated().whenComplete { _ in
            // The client may still be sending: closing at once could take the response from it.
            eventLoop.scheduleTask(in: .milliseconds(200)) { context.close(promise: nil) }
        }
    }

    /// Records that the handshake has been completed.
    func complete() {
        deadline?.cancel()
        deadline = nil
    }
}

/// The channel handler behind that of TLS, which notices the end of the handshake. The handlers of HTTP follow it.
final class HandshakeCompletionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let monitor: HandshakeMonitor

    init(_ monitor: HandshakeMonitor) {
        self.monitor = monitor
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { monitor.complete() }
        context.fireUserInboundEventTriggered(event)
    }
}
