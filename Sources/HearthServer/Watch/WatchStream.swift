import DocumentModel
import DocumentStore
import HearthService
import Hummingbird
import JSONRPC
import Logging
import NIOCore

/// One watch stream on its way to a client.
///
/// It has five endings: the client leaves, which is noticed at once; the server stops, or the time asked for is over, which
/// the client is told; its key is revoked or expires, or its
/// session is ended, which it is told where it still reads; the store fails, which it is told
/// too; or it accepts nothing for so long that its connection is closed.
///
/// A class, because the closures that a response is made of would each hold a copy.
final class WatchStream: Sendable {
    let session: WatchSession
    /// The database that is watched; nil for the default one.
    let database: DatabaseID?
    /// Who watches, for as long as the keys say so.
    let caller: Caller
    let keys: AccessKeys
    /// The browser's session that it was opened in, where it was by one.
    let visit: Session?
    let sessions: Sessions
    let openStreams: OpenStreams
    let encoder: any WatchEncoder
    /// What was written for others who watch the same.
    let shared: SharedFrames
    /// Free for another stream when this one is over, and also when it never begins.
    let slot: WatchSlots.Slot
    /// Where frames are made, so that calls do not wait until all watchers of what they change have been told.
    let threads: WorkThreads
    /// By what the log knows the request that the stream answers. A logger that tells it would take half a kibibyte.
    let requestID: RequestID
    let logger: Logger

    init(
        session: WatchSession,
        database: DatabaseID?,
        caller: Caller,
        keys: AccessKeys,
        visit: Session?,
        sessions: Sessions,
        openStreams: OpenStreams,
        encoder: any WatchEncoder,
        shared: SharedFrames,
        slot: WatchSlots.Slot,
        threads: WorkThreads,
        requestID: RequestID,
        logger: Logger
    ) {
        self.session = session
        self.database = database
        self.caller = caller
        self.keys = keys
        self.visit = visit
        self.sessions = sessions
        self.openStreams = openStreams
        self.encoder = encoder
        self.shared = shared
        self.slot = slot
        self.threads = threads
        self.requestID = requestID
        self.logger = logger
    }

    /// How long the client of a revoked key has for the frames that are on their way.
    private static let revocationGrace = TimeAmount.seconds(2)

    /// Writes all frames, waiting wherever the client does not keep up, and ends the response.
    func write(to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
        let observations = observeEnd(on: channel)
        defer { withExtendedLifetime(observations) {} }
        openStreams.add(session)
        defer { openStreams.remove(session) }
        try await withTaskExecutorPreference(threads) {
            try await writeFrames(to: &writer, on: channel.eventLoop)
        }
    }

    // What is not inlined needs no room in the task's memory, which lasts as long as the stream.

    /// Ends the session when the client leaves, or who watches may no longer, for as long as what is returned is kept.
    @inline(never)
    private func observeEnd(on channel: any Channel) -> [EndingObservation?] {
        // The connection is closed when the client leaves, also while there is nothing to write.
        channel.closeFuture.whenComplete { [session] _ in session.end(nil) }
        let revoke: @Sendable () -> Void = { [session, eventLoop = channel.eventLoop] in
            session.end(.revoked)
            // Who does not take what was sent before is not waited for.
            eventLoop.scheduleTask(in: Self.revocationGrace) { channel.close(promise: nil) }
        }
        return [keys.onEnd(of: caller, revoke), visit.map { sessions.onEnd(of: $0, revoke) }]
    }

    private func writeFrames(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var batches = session.makeAsyncIterator()
        var buffer = ByteBuffer()
        var lastSent = ContinuousClock.now
        do {
            while let frames = try await batches.next(waits: buffer.readableBytes == 0) {
                var rest = encodeCommonly(frames, to: &buffer)
                while encode(&rest, to: &buffer) { try await send(&buffer, to: &writer, on: eventLoop) }
                // What is there already goes together, unless that takes long to tell.
                if !frames.isEmpty, batches.isBehind, buffer.readableBytes < chunkBytes, .now - lastSent < Self.maximumDelay {
                    continue
                }
                if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
                lastSent = .now
                if encoder.pause > .zero, !batches.isFarBehind { await pause() }
            }
            if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
        } catch let error as StatusError {
            encode(error, to: &buffer)
            try await send(&buffer, to: &writer, on: eventLoop)
        }
        try await writer.finish(nil)
    }

    /// Writes frames and takes them off; gives whether there is enough to send before the others: a frame is made when the client
    /// has taken most of what was made before.
    @inline(never)
    private func encode(_ frames: inout ArraySlice<WatchFrame>, to buffer: inout ByteBuffer) -> Bool {
        while buffer.readableBytes < chunkBytes, let frame = frames.popFirst() { encoder.write(frame, to: &buffer) }
        return buffer.readableBytes >= chunkBytes
    }

    /// Writes frames that were made for everyone who watches the same; gives those that are still to be written.
    @inline(never)
    private func encodeCommonly(_ frames: [WatchFrame], to buffer: inout ByteBuffer) -> ArraySlice<WatchFrame> {
        guard var common = commonBuffer(of: frames) else { return frames[...] }
        buffer.writeBuffer(&common)
        return []
    }

    @inline(never)
    private func pause() async {
        try? await Task.sleep(for: encoder.pause)
    }

    /// How long frames wait for those of the next commit.
    private static let maximumDelay = Duration.milliseconds(50)

    /// Commits that are larger are written for each watcher as it takes them.
    private static let maximumCommonBytes = 256 << 10

    /// The changes of one commit as they are written for everyone who watches the same; nil for other frames.
    private func commonBuffer(of frames: [WatchFrame]) -> ByteBuffer? {
        guard let format = encoder.commonFormat, session.hasCommonFrames, case .change(_, let last?)? = frames.last,
            let token = last.token
        else { return nil }
        let byteCount = frames.reduce(0) { $0 + $1.contentByteCount }
        guard byteCount <= Self.maximumCommonBytes else { return nil }
        let key = SharedFrames.Key(
            database: database,
            target: session.request.target,
            contents: session.request.contents,
            format: format,
            token: token
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
    private func encode(_ error: StatusError, to buffer: inout ByteBuffer) {
        guard error.code == .internal else { return encoder.write(error.rpcError, to: &buffer) }
        encoder.write(.internal(error, "watch failed", logger: logger.about(requestID)), to: &buffer)
    }
}

extension WatchFrame {
    /// About how many bytes of documents the frame has.
    fileprivate var contentByteCount: Int {
        guard case .change(let change, _) = self else { return 0 }
        return 256 + (change.document?.fieldsJSON.count ?? 0) + (change.before?.fieldsJSON.count ?? 0)
    }
}
