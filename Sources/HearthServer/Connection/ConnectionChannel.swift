import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON

/// Hummingbird's HTTP/1 channel with ``ConnectionHandler`` where requests still have their protocol version.
struct ConnectionChannel: ServerChildChannel {
    private let base: HTTP1Channel
    private let configuration: ConnectionConfiguration

    init(_ base: HTTP1Channel, configuration: ConnectionConfiguration) {
        self.base = base
        self.configuration = configuration
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let address = channel.remoteAddress.flatMap { $0.isLoopback ? nil : $0.ipAddress }.map { UTF8Key($0) }
        let isAdmitted = configuration.slots.take(for: address)
        if isAdmitted {
            channel.closeFuture.whenComplete { [slots = configuration.slots] _ in slots.giveBack(for: address) }
        }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(ArrivalHandler(), position: .before(decoder))
            try pipeline.addHandler(ConnectionHandler(configuration, isAdmitted: isAdmitted), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension SocketAddress {
    /// Whether it is this machine's own, which all clients of a proxy here have.
    fileprivate var isLoopback: Bool {
        guard let address = ipAddress?.utf8 else { return true }
        return address.starts(with: "127.".utf8) || address.elementsEqual("::1".utf8)
            || address.starts(with: "::ffff:127.".utf8)
    }
}
