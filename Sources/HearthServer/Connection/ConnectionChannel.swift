internal import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Hummingbird's HTTP/1 channel with ``ConnectionHandler`` where requests still have their protocol version.
struct ConnectionChannel: ServerChildChannel {
    private let base: HTTP1Channel
    private let configuration: ConnectionConfiguration

    init(_ base: HTTP1Channel, configuration: ConnectionConfiguration) {
        self.base = base
        self.configuration = configuration
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let address = channel.remoteAddress.flatMap { IPAddress($0) }
        let counted = address.flatMap { $0.isLoopback || configuration.proxies.contains($0) ? nil : $0.network }
        let isAdmitted = configuration.slots.take(for: counted)
        if isAdmitted {
            channel.closeFuture.whenComplete { [slots = configuration.slots] _ in slots.giveBack(for: counted) }
        }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            try channel.syncOptions?.setUnacknowledgedTimeout(configuration.stallTimeout)
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.readBuffers)
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(ArrivalHandler(), position: .before(decoder))
            try pipeline.addHandler(ConnectionHandler(configuration, isAdmitted: isAdmitted), position: .after(decoder))
            return value
        }
    }

    /// An idle connection keeps a buffer: one for a usual request, which grows where more comes at a time.
    private static let readBuffers = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension NIOSynchronousChannelOptions {
    /// Has the system close the connection when the client has confirmed nothing of what was sent to it for so long.
    ///
    /// A client whose machine or network is gone says nothing, and what is written for it, the signs of life of a stream for
    /// example, goes into the system's buffer without complaint: without this it would be tried for a quarter of an hour.
    fileprivate func setUnacknowledgedTimeout(_ timeout: TimeAmount) throws {
        #if os(Linux)
        let milliseconds = SocketOptionValue(timeout.nanoseconds / 1_000_000)
        try setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)), value: milliseconds)
        #endif
    }
}
