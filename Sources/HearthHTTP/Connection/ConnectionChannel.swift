internal import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import UTF8Text

/// Hummingbird's HTTP/1 channel with ``ConnectionHandler`` added after the decoder, where requests still have their protocol
/// version.
struct ConnectionChannel: ServerChildChannel {
    private let base: HTTP1Channel
    private let configuration: ConnectionConfiguration

    init(_ base: HTTP1Channel, configuration: ConnectionConfiguration) {
        self.base = base
        self.configuration = configuration
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let address = channel.remoteAddress.flatMap { IPAddress($0) }
        let limitedNetwork = address.flatMap { $0.isLoopback || configuration.proxies.contains($0) ? nil : $0.network }
        let admission = admit(channel, from: limitedNetwork)
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            try channel.syncOptions?.setUnacknowledgedTimeout(configuration.stallTimeout)
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.readBufferAllocator)
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(InboundBytesHandler(), position: .before(decoder))
            try pipeline.addHandler(ConnectionHandler(configuration, admission), position: .after(decoder))
            return value
        }
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

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
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
