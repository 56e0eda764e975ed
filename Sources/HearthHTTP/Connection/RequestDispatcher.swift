import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Assembles the requests of a channel, that of an HTTP/1 connection or of an HTTP/2 stream, and passes them to the responder one
/// at a time, in their order. Used on the event loop.
///
/// A request whose body is small or came with its head, as most do, is passed on as a whole. A larger body is passed on as a stream
/// while it arrives, also while the response is being written.
final class RequestDispatcher {
    /// An inbound event.
    enum Event {
        case head(HTTPRequest)
        case body(ByteBuffer)
        case end
        /// The rest of the request cannot be received.
        case failure(any Error)
    }

    /// The request being received.
    private enum InboundRequest {
        case none
        /// A head, with the part of its body that has been received.
        case head(HTTPRequest, body: ByteBuffer?)
        /// A body that is passed on as it arrives.
        case body(RequestBodyStream)
        /// A body whose reader has ended; its remaining parts are discarded.
        case unread
    }

    private let connection: ClientConnection
    private let channel: any Channel
    let writer: ResponseWriter
    /// `nil` once the channel is closed.
    private var source: (any RequestSource)?
    private var inbound = InboundRequest.none
    /// The events that wait for earlier requests to be answered.
    private var pendingEvents: ArraySlice<Event> = []
    /// The task that responds to the current request.
    private var task: Task<Void, Never>?
    /// The number of bodies passed on as streams, which identifies the last one.
    private var bodyStreamCount = 0
    /// The number of bytes of the current body that have not been read, up to a few KiB.
    private(set) var unreadByteCount = 0
    private var isCancelled = false
    private var isClosed = false
    /// The limit whose slot the last request holds until it has been processed, once the channel is closed.
    private var requestSlots: RequestSlots?

    /// Creates a dispatcher.
    ///
    /// - Parameter channel: The channel that requests come from, and responses are written to.
    init(_ connection: ClientConnection, channel: any Channel) {
        self.connection = connection
        self.channel = channel
        self.writer = ResponseWriter(channel)
    }

    /// Sets the handler of the channel, which is retained until the channel is closed.
    func setSource(_ source: some RequestSource) {
        self.source = source
    }

    // MARK: - Requests

    /// True if no event waits for earlier requests, and the rest of the current body is needed.
    var needsInput: Bool {
        if case .unread = inbound { return false }
        return pendingEvents.isEmpty
    }

    /// True if the reader of the current body has ended before the body.
    var discardsBody: Bool {
        if case .unread = inbound { true } else { false }
    }

    func receive(_ event: Event) {
        guard pendingEvents.isEmpty, canProcessEvents else { return pendingEvents.append(event) }
        process(event)
    }

    /// Begins to respond to a request whose body will arrive in later reads, unless the body is small: many clients send it in a packet
    /// of its own, right after the head.
    func receiveReadComplete() {
        guard case .head(let head, _) = inbound else { return }
        if let length = head.headerFields[.contentLength].flatMap({ Int($0) }), length <= connection.smallBodyBytes { return }
        streamIncompleteBody()
    }

    /// Discards the requests behind the one being answered.
    func discardPendingRequests() {
        pendingEvents = []
    }

    /// True if the next event is not that of a request behind the one being answered.
    private var canProcessEvents: Bool {
        guard task != nil else { return true }
        return switch inbound {
        case .none, .head: false
        case .body, .unread: true
        }
    }

    private func process(_ event: Event) {
        switch event {
        case .head(let head):
            inbound = .head(head, body: nil)
        case .body(let part):
            receiveBody(part)
        case .end:
            receiveEnd()
        case .failure(let error):
            receive(error)
        }
    }

    private func receiveBody(_ part: ByteBuffer) {
        switch inbound {
        case .head(let head, var body):
            // Releases the buffer, so that the append below does not copy it.
            inbound = .none
            body.setOrWriteImmutableBuffer(part)
            inbound = .head(head, body: body)
        case .body(let stream):
            unreadByteCount += part.readableBytes
            stream.yield(part)
        case .none, .unread:
            break
        }
    }

    private func receiveEnd() {
        let received = inbound
        inbound = .none
        switch received {
        case .head(let head, let body):
            let body = body ?? ByteBuffer()
            start(head, RequestBody(buffer: body), receivedBodyBytes: body.readableBytes)
        case .body(let stream):
            unreadByteCount = 0
            stream.finish()
        case .none, .unread:
            break
        }
    }

    /// Passes an error to the reader of the current body, or responds to a malformed head.
    private func receive(_ error: any Error) {
        streamIncompleteBody()
        switch inbound {
        case .body(let stream):
            inbound = .unread
            unreadByteCount = 0
            stream.finish(error)
        case .unread where task != nil:
            // The response being prepared ends the request.
            break
        case .none where error is HTTPParserError:
            source?.respondToMalformedHead()
        case .none, .head, .unread:
            channel.close(promise: nil)
        }
    }

    /// Begins to respond to a request whose body is incomplete.
    private func streamIncompleteBody() {
        guard case .head(let head, let part) = inbound else { return }
        bodyStreamCount += 1
        unreadByteCount = 0
        let eventLoop = channel.eventLoop
        let dispatcher = NIOLoopBound(self, eventLoop: eventLoop)
        let (stream, body) = RequestBodyStream.makeStream { [id = bodyStreamCount] progress in
            eventLoop.execute { dispatcher.value.handle(progress, ofBody: id) }
        }
        inbound = .body(stream)
        if let part { receiveBody(part) }
        start(head, body, receivedBodyBytes: nil)
    }

    private func handle(_ progress: RequestBodyStream.Progress, ofBody id: Int) {
        // The reader of an earlier body may end after its response.
        guard id == bodyStreamCount, case .body(let stream) = inbound else { return }
        switch progress {
        case .read(let byteCount):
            unreadByteCount -= byteCount
        case .ended:
            inbound = .unread
            unreadByteCount = 0
            stream.finish()
        }
        source?.updateInput()
    }

    // MARK: - Responses

    private func start(_ head: HTTPRequest, _ body: RequestBody, receivedBodyBytes: Int?) {
        let executor = connection.requestExecutor
        connection.beginResponse()
        task = connection.responder.respond(
            to: Request(head: head, body: body),
            from: connection,
            receivedBodyBytes: receivedBodyBytes,
            with: writer,
            on: channel,
            executor: executor,
            reporting: report()
        )
        if isCancelled { task?.cancel() }
    }

    /// Returns a function that passes the progress of a response on, from any thread.
    private func report() -> @Sendable (ConnectionResponder.Progress) -> Void {
        let eventLoop = channel.eventLoop
        let dispatcher = NIOLoopBound(self, eventLoop: eventLoop)
        return { progress in
            if eventLoop.inEventLoop {
                dispatcher.value.handle(progress)
            } else {
                eventLoop.execute { dispatcher.value.handle(progress) }
            }
        }
    }

    private func handle(_ progress: ConnectionResponder.Progress) {
        if case .wroteHead(let body, let entry) = progress {
            // Even if the channel is closed by now: the task notices.
            task = connection.responder.write(body, to: writer, ending: entry, reporting: report())
            if isCancelled { task?.cancel() }
            return
        }
        task = nil
        connection.endResponse()
        guard !isClosed else {
            requestSlots?.release()
            requestSlots = nil
            return
        }
        if case .failed = progress { return channel.close(promise: nil) }
        while canProcessEvents, let event = pendingEvents.popFirst() { process(event) }
        // A slice retains the elements that were removed from it.
        if pendingEvents.isEmpty { pendingEvents = [] }
        receiveReadComplete()
        source?.updateInput()
    }

    /// Cancels the current request and those that follow.
    func cancel() {
        isCancelled = true
        task?.cancel()
    }

    /// Ends the requests when the channel is closed: their bodies end with an error, and writes fail.
    ///
    /// - Parameter requestSlots: The limit of which a slot is released when the current request has been processed.
    func close(releasing requestSlots: RequestSlots? = nil) {
        guard !isClosed else { return }
        isClosed = true
        if task == nil { requestSlots?.release() } else { self.requestSlots = requestSlots }
        source = nil
        pendingEvents = []
        writer.close()
        if case .body(let stream) = inbound { stream.finish(ChannelError.ioOnClosedChannel) }
        inbound = .none
    }
}

/// The channel handler that passes the requests of its channel to a ``RequestDispatcher``.
protocol RequestSource: AnyObject {
    /// Responds to a malformed head, when all requests before it have been answered.
    func respondToMalformedHead()
    /// Continues to receive input, as far as ``RequestDispatcher/needsInput`` and the unread bytes allow.
    func updateInput()
}
