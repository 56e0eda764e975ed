import NIOCore
import NIOHTTP2

/// The channel handler of an HTTP/2 connection, behind NIO's frame codec: the limits, timeouts and shutdown of the connection and its
/// streams.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    let client: ClientConnection
    let configuration: ConnectionConfiguration
    private let transport: HTTP2TransportHandler
    private let idleTimer: IdleTimer
    private let stallMonitor: StallMonitor
    /// `nil` once the handler has been removed.
    private var context: ChannelHandlerContext?
    private var streams: [ObjectIdentifier: HTTP2StreamHandler] = [:]
    /// The timer of ``checkStreams()``, while there are streams.
    private var streamCheck: Scheduled<Void>?
    private var isShuttingDown = false
    /// The last stream that was added.
    private var lastStream = HTTP2StreamID.rootStream

    init(_ client: ClientConnection, _ transport: HTTP2TransportHandler) {
        self.client = client
        self.transport = transport
        configuration = client.configuration
        idleTimer = IdleTimer(configuration.idleTimeout)
        let channel = client.channel
        stallMonitor = StallMonitor(configuration, of: channel) {
            channel.undeliveredByteCount
        } disconnect: {
            channel.close(promise: nil)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        transport.onWrite = stallMonitor.recordWrite
        idleTimer.start(on: context.eventLoop) {
            !self.streams.isEmpty
        } onIdle: {
            self.shutDown()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        transport.onWrite = { _ in }
        idleTimer.stop()
        stallMonitor.stop()
        streamCheck?.cancel()
    }

    /// Receives a frame of the connection. The codec has processed it; a PING shows that the client is there.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        idleTimer.recordActivity(at: context.eventLoop.now)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallMonitor.updateWritability()
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: context.close(promise: nil)
        case is ChannelShouldQuiesceEvent: shutDown()
        case is ConnectionEviction: evict(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes the connection after an error that the codec has reported to the client by GOAWAY. An error of a stream has only reset it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if transport.hasSentGoAway { transport.close() }
    }

    // MARK: - Streams

    /// Adds a stream with a request. Returns false if its request must be refused, because of a limit or because the connection is being
    /// closed.
    func add(_ stream: HTTP2StreamHandler) -> Bool {
        idleTimer.recordActivity(at: client.channel.eventLoop.now)
        guard !isShuttingDown else { return false }
        // The responses to requests that the client has cancelled may still be in progress.
        guard client.responseCount < HTTP2Configuration.maximumConcurrentStreams, configuration.requestSlots.acquire() else {
            return false
        }
        // A connection without its slot has made room for another one.
        guard !streams.isEmpty || beginRequests() else {
            configuration.requestSlots.release()
            return false
        }
        streams[ObjectIdentifier(stream)] = stream
        lastStream = stream.id
        scheduleStreamCheck()
        return true
    }

    private func beginRequests() -> Bool {
        if case .success(let slot) = client.admission { slot.beginRequests() } else { false }
    }

    /// Removes a stream. Returns false if it was not added.
    ///
    /// The slot of its request is to be released once the request has been processed.
    func remove(_ stream: HTTP2StreamHandler) -> Bool {
        guard streams.removeValue(forKey: ObjectIdentifier(stream)) != nil else { return false }
        guard streams.isEmpty else { return true }
        idleTimer.recordActivity(at: client.channel.eventLoop.now)
        if case .success(let slot) = client.admission { slot.endRequests() }
        closeIfDone()
        return true
    }

    /// Monitors whether the client reads from the connection, because one of its streams has asked to be told about a stall.
    func observeStalls() {
        guard !stallMonitor.isObserved else { return }
        // The streams that notice a stall of their own end, and their client has the grace period to read the rest.
        stallMonitor.observe(StreamStallObservation {})
        try? context?.channel.setUnacknowledgedTimeout(configuration.unacknowledgedStreamTimeout)
    }

    private func scheduleStreamCheck() {
        guard streamCheck == nil, let context else { return }
        streamCheck = context.eventLoop.assumeIsolated().scheduleTask(in: configuration.streamCheckInterval) {
            self.checkStreams()
        }
    }

    private func checkStreams() {
        streamCheck = nil
        guard !streams.isEmpty else { return }
        let now = NIODeadline.now()
        for stream in Array(streams.values) { stream.checkProgress(at: now) }
        scheduleStreamCheck()
    }

    // MARK: - Shutdown

    /// Starts shutdown: new streams are refused, and the connection closes when the open ones have ended.
    private func shutDown() {
        guard !isShuttingDown, context != nil else { return }
        isShuttingDown = true
        // The client may have opened streams that have not been received yet.
        if !streams.isEmpty { transport.sendGoAway(lastStream: .maxID) }
        for stream in Array(streams.values) { stream.shutDown() }
        closeIfDone()
    }

    /// Closes an idle connection at once.
    private func evict(_ context: ChannelHandlerContext) {
        if streams.isEmpty { transport.sendGoAway(lastStream: lastStream) }
        context.close(promise: nil)
    }

    private func closeIfDone() {
        guard isShuttingDown, streams.isEmpty else { return }
        // The client may safely send again what it sent on later streams.
        transport.sendGoAway(lastStream: lastStream)
        transport.close()
    }

    /// Cancels all requests, and closes the connection after their responses.
    func cancel() {
        for stream in Array(streams.values) { stream.cancel() }
        shutDown()
    }
}
