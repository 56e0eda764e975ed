import DocumentModel
import DocumentStore
import HearthService
import Hummingbird
import JSONRPC
import Logging
import NIOCore
import ServiceLifecycle

/// One watch stream on its way to a client.
///
/// It has five endings: the client leaves, which is noticed at once; the server stops, or the time asked for is over, which
/// the client is told; its key is revoked or expires, or its
/// session is ended, which it is told where it still reads; the store fails, which it is told
/// too; or it accepts nothing for so long that its connection is closed.
struct WatchStream: Sendable {
    let session: WatchSession
    /// The database that is watched; nil for the default one.
    let database: DatabaseID?
    /// Who watches, for as long as the keys say so.
    let caller: Caller
    let keys: AccessKeys
    /// The browser's session that it was opened in, where it was by one.
    let visit: Session?
    let sessions: Sessions
    let encoder: any WatchEncoder
    /// What was written for others who watch the same.
    let shared: SharedFrames
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
        let revoke: @Sendable () -> Void = { [session, eventLoop = channel.eventLoop] in
            session.end(.revoked)
            // Who does not take what was sent before is not waited for.
            eventLoop.scheduleTask(in: Self.revocationGrace) { channel.close(promise: nil) }
        }
        let observations = [keys.onEnd(of: caller, revoke), visit.map { sessions.onEnd(of: $0, revoke) }]
        defer { withExtendedLifetime(observations) {} }
        try await withGracefulShutdownHandler {
            try await withTaskExecutorPreference(threads) {
                try await writeFrames(to: &writer, on: channel.eventLoop)
            }
        } onGracefulShutdown: {
            session.end(.shutdown)
        }
    }

    // What is not inlined here needs no room in the task's memory, which lasts as long as the stream.

    private func writeFrames(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var batches = session.makeAsyncIterator()
        var buffer = ByteBuffer()
        var lastSent = ContinuousClock.now
        do {
            while let frames = try await batches.next() {
                if var common = commonBuffer(of: frames) {
                    buffer.writeBuffer(&common)
                } else {
                    for frame in frames {
                        encoder.write(frame, to: &buffer)
                        // A frame is made when the client has taken most of what was made before.
                        if buffer.readableBytes >= chunkBytes { try await send(&buffer, to: &writer, on: eventLoop) }
                    }
                }
                // What is there already goes together, unless that takes long to tell.
                if batches.isBehind, buffer.readableBytes < chunkBytes, .now - lastSent < Self.maximumDelay { continue }
                if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
                lastSent = .now
                if encoder.pause > .zero, !batches.isFarBehind { try? await Task.sleep(for: encoder.pause) }
            }
            if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
        } catch let error as StatusError {
            encoder.write(clientError(for: error), to: &buffer)
            try await send(&buffer, to: &writer, on: eventLoop)
        }
        try await writer.finish(nil)
    }

    /// How long frames wait for those of the next commit.
    private static let maximumDelay = Duration.milliseconds(50)

    /// Commits that are larger are written for each watcher as it takes them.
    private static let maximumCommonBytes = 256 << 10

    /// The changes of one commit as they are written for everyone who watches the same; nil for other frames.
    @inline(never)
    private func commonBuffer(of frames: [WatchFrame]) -> ByteBuffer? {
        guard let format = encoder.commonFormat, session.hasCommonFrames, case .change(_, let last?)? = frames.last,
            last.token != nil
        else { return nil }
        let byteCount = frames.reduce(0) { $0 + $1.contentByteCount }
        guard byteCount <= Self.maximumCommonBytes else { return nil }
        let key = SharedFrames.Key(
            database: database,
            target: session.request.target,
            contents: session.request.contents,
            format: format,
            sequence: last.sequence
        )
        return shared.buffer(for: key) {
            var buffer = ByteBuffer()
            for frame in frames { encoder.write(frame, to: &buffer) }
            return buffer
        }
    }

    @inline(never)
    private func send(
        _ buffer: inout ByteBuffer,
        to writer: inout any ResponseBodyWriter,
        on eventLoop: any EventLoop
    ) async throws {
        try await writer.write(buffer.readableBytesView, on: eventLoop)
        // Not kept: most frames are much smaller than the largest.
        buffer = ByteBuffer()
    }

    @inline(never)
    private func clientError(for error: StatusError) -> RPCError {
        guard error.code == .internal else { return error.rpcError }
        return .internal(error, "watch failed", logger: logger)
    }
}

extension WatchFrame {
    /// About how many bytes of documents the frame has.
    fileprivate var contentByteCount: Int {
        guard case .change(let change, _) = self else { return 0 }
        return 256 + (change.document?.fieldsJSON.count ?? 0) + (change.before?.fieldsJSON.count ?? 0)
    }
}
