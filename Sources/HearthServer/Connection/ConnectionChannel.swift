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
        let isAdmitted = configuration.slots.take()
        if isAdmitted {
            channel.closeFuture.whenComplete { [slots = configuration.slots] _ in slots.giveBack() }
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
