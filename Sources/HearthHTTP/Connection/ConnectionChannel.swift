import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import UTF8Text

/// The event that closes an idle connection, to make room for another one.
struct ConnectionEviction: Sendable {}

/// The channel of a connection: the handlers of HTTP/1, or those of HTTP/2 once the first bytes show that the client speaks it.
struct ConnectionChannel: ServerChildChannel {
    /// A connection that has been set up.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let handlers: NIOLoopBound<Handlers>
        /// Completed when the connection is closed and its last request has been processed.
        fileprivate let finished: EventLoopFuture<Void>
    }

    /// The handlers of the connection's protocol.
    fileprivate final class Handlers {
        let http1: HTTP1ConnectionHandler
        var http2: HTTP2ConnectionHandler?
        /// The last handler of TLS, which those of HTTP follow; `nil` without TLS.
        var tls: HandshakeCompletionHandler?

        init(http1: HTTP1ConnectionHandler) {
            self.http1 = http1
        }

        func cancel() {
            if let http2 { http2.cancel() } else { http1.cancel() }
        }
    }

    private let responder: ConnectionResponder
    private let configuration: ConnectionConfiguration

    init(_ responder: ConnectionResponder, configuration: ConnectionConfiguration) {
        self.responder = responder
        self.configuration = configuration
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = channel.remoteAddress.flatMap { IPAddress($0) }
        let proxies = configuration.policy.value.proxies
        let limitedNetwork = address.flatMap { $0.isLoopback || proxies.contains($0) ? nil : $0.network }
        let admission = admit(channel, from: limitedNetwork)
        return channel.eventLoop.makeCompletedFuture {
            try channel.setUnacknowledgedTimeout(configuration.stallTimeout)
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.readBufferAllocator)
            let connection = ClientConnection(channel, configuration, responder, peer: address, admission: admission)
            let handlers = Handlers(http1: HTTP1ConnectionHandler(connection))
            if let certificate = configuration.certificate { handlers.tls = try addTLSHandlers(certificate, to: channel) }
            try addHTTP1Handlers(handlers, for: connection)
            return Value(
                channel: channel,
                handlers: NIOLoopBound(handlers, eventLoop: channel.eventLoop),
                finished: connection.finished
            )
        }
    }

    /// Adds the handlers of TLS, and returns the last of them.
    private func addTLSHandlers(
        _ certificate: ServerCertificate,
        to channel: any Channel
    ) throws -> HandshakeCompletionHandler {
        let monitor = HandshakeMonitor(timeout: configuration.headTimeout)
        let completion = HandshakeCompletionHandler(monitor)
        let tls = NIOSSLServerHandler(context: certificate.context)
        try channel.pipeline.syncOperations.addHandlers([monitor, tls, completion])
        return completion
    }

    private func addHTTP1Handlers(_ handlers: Handlers, for connection: ClientConnection) throws {
        let pipeline = connection.channel.pipeline.syncOperations
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = ConnectionConfiguration.maximumHeadBytes
        limits.maxHeaderListSize = ConnectionConfiguration.maximumHeadBytes
        limits.maxHeaderFieldCount = 100
        try pipeline.configureHTTPServerPipeline(
            // RequestDispatcher keeps the order of requests.
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // HTTPFields validates names and values.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits
        )
        let inboundBytes = InboundBytesHandler(handlers.http1) { firstBytes in
            do {
                try self.startHTTP2(handlers, on: connection)
                if let tls = handlers.tls {
                    try connection.channel.pipeline.syncOperations.context(handler: tls).fireChannelRead(NIOAny(firstBytes))
                } else {
                    connection.channel.pipeline.fireChannelRead(firstBytes)
                }
            } catch {
                connection.channel.close(promise: nil)
            }
        }
        try pipeline.addHandler(inboundBytes, position: handlers.tls.map { .after($0) } ?? .first)
        try pipeline.addHandler(handlers.http1)
    }

    /// Replaces the handlers of HTTP/1 by those of HTTP/2.
    private func startHTTP2(_ handlers: Handlers, on connection: ClientConnection) throws {
        let pipeline = connection.channel.pipeline.syncOperations
        _ = pipeline.removeHandler(try pipeline.handler(type: InboundBytesHandler.self))
        _ = pipeline.removeHandler(try pipeline.handler(type: HTTPResponseEncoder.self))
        _ = pipeline.removeHandler(try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self))
        _ = pipeline.removeHandler(handlers.http1)
        let transport = HTTP2TransportHandler(connection)
        let http2 = HTTP2ConnectionHandler(connection, transport)
        handlers.http2 = http2
        let loopBound = NIOLoopBound(http2, eventLoop: connection.channel.eventLoop)
        let codec = NIOHTTP2Handler(
            mode: .server,
            eventLoop: connection.channel.eventLoop,
            connectionConfiguration: HTTP2Configuration.codec.connection,
            streamConfiguration: HTTP2Configuration.codec.stream
        ) { stream in
            stream.getOption(HTTP2StreamChannelOptions.streamID).flatMapThrowing { id in
                let handler = HTTP2StreamHandler(loopBound.value, channel: stream, id: id)
                try stream.pipeline.syncOperations.addHandler(handler)
            }
        }
        // Before the decoder of HTTP/1, which is removed only later.
        try pipeline.addHandlers([transport, codec, http2], position: handlers.tls.map { .after($0) } ?? .first)
    }

    /// Acquires a slot for a connection, which is released when the connection is closed.
    private func admit(
        _ channel: any Channel,
        from network: UTF8Key?
    ) -> Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached> {
        Result { () throws(ConnectionSlots.LimitReached) in
            let slot = try configuration.slots.acquire(for: network) {
                channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
            }
            channel.closeFuture.whenComplete { _ in slot.release() }
            return slot
        }
    }

    /// The read buffer that an idle connection keeps: the size of a typical request, growing with larger reads.
    private static let readBufferAllocator = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)

    /// Waits until the connection is closed and its last request has been processed.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.finished.get()
        } onCancel: {
            value.channel.eventLoop.execute { value.handlers.value.cancel() }
        }
    }
}
