import DocumentModel
import HearthService
import Hummingbird
import JSONRPC
import Logging
import NIOCore
import ServiceLifecycle

/// One watch stream on its way to a client.
///
/// It has four endings: the client leaves, which is noticed at once; the server stops, or the time asked for is over, which
/// the client is told; the store fails, which it is told too; or it accepts nothing for so long that its connection is closed.
struct WatchStream: Sendable {
    let session: WatchSession
    let encoder: WatchFrameEncoder
    /// Free for another stream when this one is over, and also when it never begins.
    let slot: WatchSlots.Slot
    let logger: Logger

    /// Writes all frames, waiting wherever the client does not keep up, and ends the response.
    func write(to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
        // The connection is closed when the client leaves, also while there is nothing to write.
        channel.closeFuture.whenComplete { [session] _ in session.end(nil) }
        try await withGracefulShutdownHandler {
            try await writeFrames(to: &writer)
        } onGracefulShutdown: {
            session.end(.shutdown)
        }
    }

    private func writeFrames(to writer: inout any ResponseBodyWriter) async throws {
        var frames = session.makeAsyncIterator()
        var isOpen = true
        while isOpen {
            let buffer: ByteBuffer
            do throws(StatusError) {
                guard let batch = try await frames.next() else { break }
                buffer = encoder.encode(batch)
            } catch {
                buffer = encoder.encode(clientError(for: error))
                isOpen = false
            }
            try await writer.write(buffer)
        }
        try await writer.finish(nil)
    }

    private func clientError(for error: StatusError) -> RPCError {
        guard error.code == .internal else { return error.rpcError }
        return .internal(error, "watch failed", logger: logger)
    }
}
