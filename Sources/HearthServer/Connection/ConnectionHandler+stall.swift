import NIOCore

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
