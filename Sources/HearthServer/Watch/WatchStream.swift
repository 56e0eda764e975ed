import DocumentModel
import HearthService
import Hummingbird
import JSONRPC
import Logging
import NIOCore
import ServiceLifecycle

/// One watch stream on its way to a client.
///
/// It has five endings: the client leaves, which is noticed at once; the server stops, or the time asked for is over, which
/// the client is told; its key is revoked or expires, which it is told where it still reads; the store fails, which it is told too; or it accepts nothing for so long that its connection is closed.
struct WatchStream: Sendable {
    let session: WatchSession
    /// Who watches, for as long as the keys say so.
    let caller: Caller
    let keys: AccessKeys
    let encoder: WatchFrameEncoder
    /// Free for another stream when this one is over, and also when it never begins.
    let slot: WatchSlots.Slot
    /// Where frames are made, so that calls do not wait until all watchers of what they change have been told.
    let threads: WorkThreads
    let logger: Logger

    /// How long the client of a revoked key has for the frames that are on their way.
    private static let revocationGrace = TimeAmount.seconds(2)

    /// Writes all frames, waiting wherever the client does not keep up, and ends the response.
    func write(to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
        // The connection is closed when the client leaves, also while there is nothing to write.
        channel.closeFuture.whenComplete { [session] _ in session.end(nil) }
        let observation = keys.onEnd(of: caller) { [session, eventLoop = channel.eventLoop] in
            session.end(.revoked)
            // Who does not take what was sent before is not waited for.
            eventLoop.scheduleTask(in: Self.revocationGrace) { channel.close(promise: nil) }
        }
        defer { withExtendedLifetime(observation) {} }
        try await withGracefulShutdownHandler {
            try await withTaskExecutorPreference(threads) {
                try await writeFrames(to: &writer, on: channel.eventLoop)
            }
        } onGracefulShutdown: {
            session.end(.shutdown)
        }
    }

    private func writeFrames(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var batches = session.makeAsyncIterator()
        var buffer = ByteBuffer()
        do {
            while let frames = try await batches.next() {
                for frame in frames {
                    encoder.write(frame, to: &buffer)
                    // A frame is made when the client has taken most of what was made before.
                    if buffer.readableBytes >= chunkBytes { try await send(&buffer, to: &writer, on: eventLoop) }
                }
                if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
            }
        } catch let error as StatusError {
            encoder.write(clientError(for: error), to: &buffer)
            try await send(&buffer, to: &writer, on: eventLoop)
        }
        try await writer.finish(nil)
    }

    private func send(
        _ buffer: inout ByteBuffer,
        to writer: inout any ResponseBodyWriter,
        on eventLoop: any EventLoop
    ) async throws {
        try await writer.write(buffer.readableBytesView, on: eventLoop)
        // Not kept: most frames are much smaller than the largest.
        buffer = ByteBuffer()
    }

    private func clientError(for error: StatusError) -> RPCError {
        guard error.code == .internal else { return error.rpcError }
        return .internal(error, "watch failed", logger: logger)
    }
}
