import DocumentModel
import DocumentStore
import HearthAPI
import HummingbirdCore
import JSONRPC
import Logging
import NIOCore

/// A watch stream to one client.
///
/// It ends
/// - with an `end` frame, for one of the reasons in ``OutgoingWatchFrame/EndReason``; when access is revoked, the client gets the
///   frame only if it still reads;
/// - with an `error` frame, when the store fails;
/// - without a frame, when the client disconnects, which is noticed immediately, or reads nothing until its connection is closed:
///   after ``HTTPServerConfiguration/stallTimeout`` the stream ends, and after ``HTTPServerConfiguration/stallGrace`` the client
///   is disconnected.
///
/// A class, because each closure of the response would otherwise hold its own copy.
final class WatchStream: Sendable {
    let session: WatchSession
    /// The watched database; `nil` for the default one.
    let database: DatabaseID?
    /// The caller, whose access is observed for revocation.
    let caller: Caller
    let keys: APIKeyRegistry
    /// The browser session that opened the stream, if any.
    let browserSession: Session?
    let sessions: SessionRegistry
    let openStreams: OpenStreamRegistry
    let encoder: any WatchEncoder
    let frameCache: EncodedFrameCache
    /// Released with the stream, even if it never starts.
    let slot: WatchSlots.Slot
    /// The queues by which frames of new commits are sent on event loops.
    let deliveryQueues: FrameDeliveryQueues
    /// The threads that encode frames, so that calls don't wait while their changes are encoded for watchers.
    let threads: ThreadPoolExecutor
    /// The ID of the request in the log. A logger with this metadata would use half a kibibyte per stream.
    let requestID: String
    let logger: Logger

    init(
        session: WatchSession,
        database: DatabaseID?,
        caller: Caller,
        keys: APIKeyRegistry,
        browserSession: Session?,
        sessions: SessionRegistry,
        openStreams: OpenStreamRegistry,
        encoder: any WatchEncoder,
        frameCache: EncodedFrameCache,
        slot: WatchSlots.Slot,
        deliveryQueues: FrameDeliveryQueues,
        threads: ThreadPoolExecutor,
        requestID: String,
        logger: Logger
    ) {
        self.session = session
        self.database = database
        self.caller = caller
        self.keys = keys
        self.browserSession = browserSession
        self.sessions = sessions
        self.openStreams = openStreams
        self.encoder = encoder
        self.frameCache = frameCache
        self.slot = slot
        self.deliveryQueues = deliveryQueues
        self.threads = threads
        self.requestID = requestID
        self.logger = logger
    }

    /// Writes all frames with backpressure and ends the response.
    func write(to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
        let observations = observeTermination(on: channel)
        defer { withExtendedLifetime(observations) {} }
        openStreams.add(session)
        defer { openStreams.remove(session) }
        try await withTaskExecutorPreference(threads) {
            try await writeFrames(to: &writer, on: channel.eventLoop)
        }
    }

    // Functions are not inlined where that would enlarge the task's frame, which lasts as long as the stream.

    /// Ends the session when the client disconnects or loses access, as long as the returned observations are alive.
    @inline(never)
    private func observeTermination(on channel: any Channel) -> StreamObservations {
        StreamObservations(
            of: session,
            on: channel,
            by: caller,
            with: keys,
            browserSession,
            of: sessions,
            among: openStreams
        )
    }

    private func writeFrames(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var batches = session.makeAsyncIterator()
        var buffer = ByteBuffer()
        var lastSent = ContinuousClock.now
        let direct = hasShareableFrames ? writer as? any StreamBodyWriter : nil
        do {
            while true {
                if buffer.readableBytes == 0, let direct, batches.isWaitingForCommit {
                    let unsent = await deliverLive(batches, to: direct, on: eventLoop)
                    buffer = unsent.bytes
                    var unencoded = unsent.frames[...]
                    while encode(&unencoded, to: &buffer) { try await send(&buffer, to: &writer, on: eventLoop) }
                }
                guard let frames = try await batches.next(waits: buffer.readableBytes == 0) else { break }
                var unencoded = encodeShared(frames, to: &buffer)
                while encode(&unencoded, to: &buffer) { try await send(&buffer, to: &writer, on: eventLoop) }
                // Send more pending changes in the same write, up to the maximum delay.
                if !frames.isEmpty, batches.isBehind, buffer.readableBytes < chunkBytes, .now - lastSent < Self.maximumDelay {
                    continue
                }
                if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
                lastSent = .now
                if encoder.batchingInterval > .zero, !batches.isFarBehind { await waitForBatch() }
            }
            if buffer.readableBytes > 0 { try await send(&buffer, to: &writer, on: eventLoop) }
        } catch let error as StatusError {
            encode(error, to: &buffer)
            try await send(&buffer, to: &writer, on: eventLoop)
        }
        try await writer.finish(nil)
    }

    /// Waits while frames of new commits are sent on the event loop. Returns what could not be sent there.
    @inline(never)
    private func deliverLive(
        _ batches: WatchSession.Iterator,
        to writer: any StreamBodyWriter,
        on eventLoop: any EventLoop
    ) async -> (bytes: ByteBuffer, frames: [OutgoingWatchFrame]) {
        let queue = deliveryQueues.queue(of: eventLoop)
        return await withTaskExecutorPreference(queue.executor) {
            var delivery: FrameDelivery?
            await batches.waitLive { reader in
                delivery = FrameDelivery(self, reader, to: writer, in: queue)
                delivery?.waitForCommit()
            }
            return (delivery?.unsentBytes ?? ByteBuffer(), delivery?.unsentFrames ?? [])
        }
    }

    /// Encodes and removes frames until the buffer holds a chunk. Returns whether it does: later frames are encoded only once the
    /// client has read most of the earlier ones.
    @inline(never)
    private func encode(_ frames: inout ArraySlice<OutgoingWatchFrame>, to buffer: inout ByteBuffer) -> Bool {
        while buffer.readableBytes < chunkBytes, let frame = frames.popFirst() { encoder.write(frame, to: &buffer) }
        return buffer.readableBytes >= chunkBytes
    }

    /// Appends frames that are encoded once for all streams with the same target. Returns the frames still to be encoded.
    @inline(never)
    private func encodeShared(_ frames: [OutgoingWatchFrame], to buffer: inout ByteBuffer) -> ArraySlice<OutgoingWatchFrame> {
        guard var encoded = sharedBuffer(of: frames) else { return frames[...] }
        buffer.writeBuffer(&encoded)
        return []
    }

    @inline(never)
    private func waitForBatch() async {
        try? await Task.sleep(for: encoder.batchingInterval)
    }

    /// The maximum time that frames wait for those of the next commit.
    private static let maximumDelay = Duration.milliseconds(50)

    /// The maximum size of a commit whose encoding is shared; larger ones are encoded per stream, as the client reads.
    private static let maximumSharedBytes = 256 << 10

    /// True if the encoded frames of a commit can be shared with other streams.
    private var hasShareableFrames: Bool { encoder.sharedFormat != nil && session.hasShareableFrames }

    /// Returns whether the encoded frames of a commit are those of another stream.
    func hasSameFrames(as other: WatchStream) -> Bool {
        hasShareableFrames && encoder.sharedFormat == other.encoder.sharedFormat
            && session.request.contents == other.session.request.contents
            && session.omitsRemovedDocuments == other.session.omitsRemovedDocuments && database == other.database
            && session.request.target == other.session.request.target
    }

    /// Returns the shared encoding of the changes of a commit; `nil` for other frames.
    func sharedBuffer(of frames: [OutgoingWatchFrame], maximumBytes: Int = maximumSharedBytes) -> ByteBuffer? {
        guard let format = encoder.sharedFormat, session.hasShareableFrames, case .change(_, let last?)? = frames.last,
            let token = last.token
        else { return nil }
        let byteCount = frames.reduce(0) { $0 + $1.contentByteCount }
        guard byteCount <= maximumBytes else { return nil }
        let key = EncodedFrameCache.Key(
            database: database,
            target: session.request.target,
            contents: session.request.contents,
            omitsRemoved: session.omitsRemovedDocuments,
            format: format,
            token: token
        )
        return frameCache.buffer(for: key) {
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
        // The capacity is not kept, since most frames are much smaller than the largest.
        buffer = ByteBuffer()
    }

    @inline(never)
    private func encode(_ error: StatusError, to buffer: inout ByteBuffer) {
        guard error.code == .internal else { return encoder.write(error.rpcError, to: &buffer) }
        encoder.write(.internal(error, "Watch failed", logger: logger.with(requestID: requestID)), to: &buffer)
    }
}

extension OutgoingWatchFrame {
    /// The approximate size of the documents in the frame.
    fileprivate var contentByteCount: Int {
        guard case .change(let change, _) = self else { return 0 }
        return 256 + (change.document?.fieldsJSON.count ?? 0) + (change.before?.fieldsJSON.count ?? 0)
    }
}
