import NIOCore
import NIOHTTP2

/// The first channel handler of an HTTP/2 connection: combines the flushes of its streams, sends GOAWAY, and performs the lingering
/// close.
final class HTTP2TransportHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Called with the size of each write.
    var onWrite: (_ byteCount: Int) -> Void = { _ in }
    private var lingeringClose: LingeringClose
    /// `nil` once the handler has been removed.
    private var context: ChannelHandlerContext?
    private var isFlushScheduled = false
    private var isClosing = false
    /// True if a GOAWAY has been written.
    private(set) var hasSentGoAway = false
    /// The number of payload bytes of the last frame that later writes contain.
    private var missingPayloadByteCount = 0

    init(_ client: ClientConnection) {
        lingeringClose = LingeringClose(client.configuration, of: client.channel)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        lingeringClose.stop()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isClosing { lingeringClose.discard(unwrapInboundIn(data).readableBytes) } else { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let data = unwrapOutboundIn(data)
        if case .byteBuffer(let frames) = data { inspect(frames) }
        onWrite(data.readableBytes)
        context.write(wrapOutboundOut(data), promise: promise)
    }

    /// Looks for a GOAWAY among the frames of a write, which begins with the rest of an incomplete frame.
    private func inspect(_ frames: ByteBuffer) {
        var offset = missingPayloadByteCount
        while offset < frames.readableBytes,
            let header = frames.getInteger(at: frames.readerIndex + offset, as: UInt32.self)
        {
            if header & 0xFF == Self.goAwayType { hasSentGoAway = true }
            offset += Self.frameHeaderBytes + Int(header >> 8)
        }
        missingPayloadByteCount = max(offset - frames.readableBytes, 0)
    }

    /// Sends GOAWAY without an error. Not through the codec, which would from then on end the connection at the first DATA of a stream
    /// that the client opened before it received the frame.
    ///
    /// - Parameter lastStream: The last stream that is or may still be processed.
    func sendGoAway(lastStream: HTTP2StreamID) {
        guard !isClosing, let context else { return }
        var frame = ByteBuffer()
        frame.writeInteger(UInt32(8) << 8 | Self.goAwayType)
        frame.writeRepeatingByte(0, count: 5)
        frame.writeInteger(UInt32(Int(lastStream)))
        frame.writeInteger(UInt32(0))
        onWrite(frame.readableBytes)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(frame)), promise: nil)
    }

    private static let frameHeaderBytes = 9
    private static let goAwayType: UInt32 = 7

    /// Flushes at the end of the event loop's current work: what other streams write until then is sent by the same system call.
    func flush(context: ChannelHandlerContext) {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute {
            self.isFlushScheduled = false
            self.context?.flush()
        }
    }

    /// Closes the connection: what has been written is sent, and for a limited time, what the client still sends is discarded.
    func close() {
        guard !isClosing, let context else { return }
        isClosing = true
        context.flush()
        lingeringClose.start()
    }
}
