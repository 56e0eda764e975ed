internal import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import UTF8Text

/// The channel of a connection: NIO's HTTP/1 codec with ``ConnectionHandler`` for its limits and ``RequestHandler`` for its
/// requests.
struct ConnectionChannel: ServerChildChannel {
    /// A connection that has been set up.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let handler: NIOLoopBound<RequestHandler>
        /// Completed when the connection is closed and its last request has been processed.
        fileprivate let finished: EventLoopFuture<Void>
    }

    private let responder: ConnectionResponder
    private let configuration: ConnectionConfiguration

    init(_ responder: ConnectionResponder, configuration: ConnectionConfiguration) {
        self.responder = responder
        self.configuration = configuration
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = channel.remoteAddress.flatMap { IPAddress($0) }
        let limitedNetwork = address.flatMap { $0.isLoopback || configuration.proxies.contains($0) ? nil : $0.network }
        let admission = admit(channel, from: limitedNetwork)
        return channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setUnacknowledgedTimeout(configuration.stallTimeout)
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.readBufferAllocator)
            let finished = channel.eventLoop.makePromise(of: Void.self)
            let handler = RequestHandler(responder, channel: channel, peer: address, finished: finished)
            do {
                try addHandlers(ConnectionHandler(configuration, admission), handler, to: channel.pipeline.syncOperations)
            } catch {
                finished.fail(error)
                throw error
            }
            return Value(
                channel: channel,
                handler: NIOLoopBound(handler, eventLoop: channel.eventLoop),
                finished: finished.futureResult
            )
        }
    }

    private func addHandlers(
        _ connection: ConnectionHandler,
        _ requests: RequestHandler,
        to pipeline: ChannelPipeline.SynchronousOperations
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = ConnectionConfiguration.maximumHeadBytes
        limits.maxHeaderListSize = ConnectionConfiguration.maximumHeadBytes
        limits.maxHeaderFieldCount = 100
        try pipeline.configureHTTPServerPipeline(
            // RequestHandler keeps the order of requests.
            withPipeliningAssistance: false,
            withErrorHandling: false,
            // HTTPFields validates names and values.
            withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits
        )
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(InboundBytesHandler(connection), position: .before(decoder))
        try pipeline.addHandler(connection)
        try pipeline.addHandler(requests)
    }

    /// Acquires a slot for a connection, which is released when the connection is closed.
    private func admit(
        _ channel: any Channel,
        from network: UTF8Key?
    ) -> Result<ConnectionSlots.Slot, ConnectionSlots.LimitReached> {
        Result { () throws(ConnectionSlots.LimitReached) in
            let slot = try configuration.slots.acquire(for: network) { channel.close(promise: nil) }
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
            value.channel.eventLoop.execute { value.handler.value.cancel() }
        }
    }
}

extension NIOSynchronousChannelOptions {
    /// Makes the kernel close the connection when sent data stays unacknowledged for the timeout (`TCP_USER_TIMEOUT`).
    ///
    /// When the client's machine or network disappears, writes such as a stream's heartbeats still succeed into the socket buffer,
    /// and by default the kernel retransmits for about 15 minutes.
    func setUnacknowledgedTimeout(_ timeout: TimeAmount) throws {
        #if os(Linux)
        let milliseconds = SocketOptionValue(timeout.nanoseconds / 1_000_000)
        try setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)), value: milliseconds)
        #endif
    }
}
