import Concurrency
import DocumentModel
import HearthAPI
import HummingbirdCore
import JSONRPC
import Logging
import NIOCore
import StrictJSON
import Synchronization
import UTF8Text

/// A request for a watch stream with several targets, which calls can change while it is open.
struct MultiTargetWatchRequest: Sendable {
    /// The targets with which the stream begins.
    let targets: [WatchTargetParameter]
    /// The time without frames after which one is sent.
    let heartbeat: Duration
    /// The maximum duration of the stream, or `nil` for no limit.
    let timeout: Duration?
}

/// A watch stream with several targets to one client: a ``ListenSession`` over `/watch`. It ends as a ``WatchStream`` does.
final class MultiTargetWatchStream: OpenStream {
    let encoder = WatchFrameEncoder(format: .ndjson)
    private let request: MultiTargetWatchRequest
    private let context: ServiceContext
    private let browserSession: Session?
    private let openStreams: OpenStreamRegistry
    /// Released with the stream, even if it never starts.
    private let slot: WatchSlots.Slot
    private let streams: WatchStreamService
    private let threads: ThreadPoolExecutor
    private let logger: Logger
    private let changes = WatchTargetChanges()
    private let ending = Mutex<Ending?>(nil)

    /// The end of the stream from outside, with the reason to tell the client.
    private struct Ending {
        let reason: OutgoingWatchFrame.EndReason?
    }

    init(
        _ request: MultiTargetWatchRequest,
        in context: ServiceContext,
        openedBy browserSession: Session?,
        among openStreams: OpenStreamRegistry,
        in slot: WatchSlots.Slot,
        of streams: WatchStreamService,
        on threads: ThreadPoolExecutor,
        logger: Logger
    ) {
        self.request = request
        self.context = context
        self.browserSession = browserSession
        self.openStreams = openStreams
        self.slot = slot
        self.streams = streams
        self.threads = threads
        self.logger = logger
    }

    func end(_ reason: OutgoingWatchFrame.EndReason?) {
        let isFirst = ending.withLock { ending in
            guard ending == nil else { return false }
            ending = Ending(reason: reason)
            return true
        }
        if isFirst { changes.end() }
    }

    /// Writes all frames with backpressure and ends the response.
    func write(to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
        let observations = StreamObservations(
            of: self,
            on: channel,
            by: context.caller,
            with: context.keys,
            browserSession,
            of: context.sessions,
            among: openStreams
        )
        defer { withExtendedLifetime(observations) {} }
        openStreams.add(self)
        defer { openStreams.remove(self) }
        let timer = request.timeout.map { timeout in
            channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [weak self] in self?.end(.timeout) }
        }
        defer { timer?.cancel() }
        try await withTaskExecutorPreference(threads) {
            try await writeFrames(to: &writer, on: channel.eventLoop)
        }
    }

    /// The time from which on frames no longer wait for those of the next commit.
    private static let maximumDelay = Duration.milliseconds(50)

    private func writeFrames(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        let session = ListenSession(in: context, heartbeat: request.heartbeat, endsTargetsByFaults: true)
        let registration = context.watchStreams.add(changes, of: context.caller.identity)
        defer { withExtendedLifetime(registration) {} }
        var initial = request.targets.map(\.change)[...]
        var buffer = ByteBuffer()
        buffer.writeLine { session.writeOpen(id: registration.id, to: &$0) }
        var lastSent = ContinuousClock.now
        let direct = (writer as? any StreamBodyWriter).map(JSONMessageWriter.init)
        do throws(StatusError) {
            while true {
                var messages: [ListenMessage] = []
                var change = initial.popFirst()
                if change == nil { change = try changes.take() }
                if change == nil, buffer.readableBytes == 0, let direct, session.canWaitLive {
                    messages = await streams.deliverLive(session, to: direct, on: eventLoop, orUntil: changes.setWaiter)
                }
                if !messages.isEmpty {
                    // Messages that the client could not take on the event loop.
                } else if let change {
                    messages = try session.apply(change)
                } else if buffer.readableBytes > 0, !session.isBehind || .now - lastSent >= Self.maximumDelay {
                    try await send(&buffer, to: &writer, on: eventLoop)
                    lastSent = .now
                } else {
                    messages = try await session.next(orUntil: changes.setWaiter) {
                        var heartbeat = ByteBuffer()
                        heartbeat.writeLine { ListenSession.writeHeartbeat(to: &$0) }
                        // A failure is found again when the next frame is written.
                        try? await writer.write(heartbeat.readableBytesView, on: eventLoop)
                    }
                }
                for message in messages {
                    writeFrame(message, to: &buffer)
                    if buffer.readableBytes >= chunkBytes { try await send(&buffer, to: &writer, on: eventLoop) }
                }
            }
        } catch {
            write(error, to: &buffer)
        }
        if buffer.readableBytes > 0 { try await writer.write(buffer.readableBytesView, on: eventLoop) }
        try await writer.finish(nil)
    }

    private func send(
        _ buffer: inout ByteBuffer,
        to writer: inout any ResponseBodyWriter,
        on eventLoop: any EventLoop
    ) async throws(StatusError) {
        do {
            try await writer.write(buffer.readableBytesView, on: eventLoop)
        } catch {
            end(nil)
            throw StatusError(.cancelled, "The client has disconnected.", cause: error)
        }
        buffer = ByteBuffer()
    }

    private func writeFrame(_ message: ListenMessage, to buffer: inout ByteBuffer) {
        guard case .removed(let id, let cause?) = message, cause.code == .internal else { return buffer.writeFrame(message) }
        let error = RPCError.internal(cause, "Watching a target failed", logger: logger)
        buffer.writeLine { ListenMessage.writeRemoval(of: id, error, to: &$0) }
    }

    /// Writes the last frame; none to a client that has disconnected.
    private func write(_ error: StatusError, to buffer: inout ByteBuffer) {
        if let ending = ending.withLock({ $0 }) {
            if let reason = ending.reason { encoder.write(.end(reason, token: nil), to: &buffer) }
        } else if error.code == .internal {
            encoder.write(.internal(error, "Watch failed", logger: logger), to: &buffer)
        } else {
            encoder.write(error.rpcError, to: &buffer)
        }
    }
}

/// Writes the messages of commits as lines of JSON.
private struct JSONMessageWriter: LiveMessageWriter {
    let writer: any StreamBodyWriter

    var encoding: UTF8Key { "ndjson" }

    func encode(_ messages: [ListenMessage]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for message in messages { buffer.writeFrame(message) }
        return buffer
    }

    func writeIfWritable(_ content: ByteBuffer) -> Bool {
        writer.writeIfWritable(content)
    }
}

extension ByteBuffer {
    fileprivate mutating func writeLine(_ write: (inout JSONWriter) -> Void) {
        var json = JSONWriter(reservingCapacity: 256)
        write(&json)
        writeLine(json.finish())
    }

    fileprivate mutating func writeFrame(_ message: ListenMessage) {
        var json = JSONWriter(reservingCapacity: 256)
        if message.write(to: &json) { writeLine(json.finish()) }
    }
}
