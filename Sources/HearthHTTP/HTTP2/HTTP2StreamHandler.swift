import Concurrency
import DocumentModel
import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// The channel handler of an HTTP/2 stream: one request and its response, both of which may be in progress at the same time.
///
/// It manages the stream's window for the body of the request: what the client may send grows as the body is read.
final class HTTP2StreamHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundIn = ResponsePart
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let connection: HTTP2ConnectionHandler
    private let configuration: ConnectionConfiguration
    private let requests: RequestDispatcher
    /// `nil` once the stream is closed.
    private var context: ChannelHandlerContext?

    // The request.
    private var isHeadRequest = false
    private var hasReceivedHead = false
    private var isRequestComplete = false
    private var receivedByteCount = 0
    /// The time at which the head was received.
    private var headTime = NIODeadline.distantPast
    /// The number of bytes that the client may send.
    private var window = HTTP2Configuration.initialStreamWindow
    /// The number of bytes that the client may send when all those received have been read.
    private var maximumWindow = HTTP2Configuration.initialStreamWindow
    /// The memory for a window that is larger than the initial one.
    private var windowReservation: MemoryBudget.Reservation?

    // The response.
    private var isResponding = false
    private var hasEndedResponse = false
    /// The head of the response, until it is known whether a body follows.
    private var unwrittenHead: HPACKHeaders?
    /// A part of the body, until it is known whether it is the last one.
    private var unwrittenBody: ByteBuffer?
    /// The number of bytes in frames that wait for the client to read earlier ones, counting each end as a byte.
    private var writtenByteCount = 0
    private var sentByteCount = 0
    private var stallDetector: StallDetector?
    private var stallObservation: StreamStallObservation?

    /// The ID of the stream.
    let id: HTTP2StreamID

    init(_ connection: HTTP2ConnectionHandler, channel: any Channel, id: HTTP2StreamID) {
        self.id = id
        self.connection = connection
        configuration = connection.configuration
        requests = RequestDispatcher(connection.client, channel: channel)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        requests.setSource(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        close()
    }

    func channelInactive(context: ChannelHandlerContext) {
        close()
        context.fireChannelInactive()
    }

    private func close() {
        guard context != nil else { return }
        context = nil
        windowReservation = nil
        // The client has cancelled the request, or is gone.
        if !hasEndedResponse { requests.cancel() }
        let isAdded = connection.remove(self)
        requests.close(releasing: isAdded ? configuration.requestSlots : nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Resets the stream, unless the error is that it has been reset.
        context.close(promise: nil)
    }

    // MARK: - Request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            // Trailers are validated and ignored.
            if !hasReceivedHead { receive(headers.headers, isLast: headers.endStream, context: context) }
            if headers.endStream { receiveEnd() }
        case .data(let data):
            receive(data)
            if data.endStream { receiveEnd() }
        case .rstStream, .priority, .settings, .pushPromise, .ping, .goAway, .windowUpdate, .alternativeService, .origin:
            break
        }
    }

    private func receive(_ headers: HPACKHeaders, isLast: Bool, context: ChannelHandlerContext) {
        hasReceivedHead = true
        guard connection.add(self) else { return refuse() }
        headTime = context.eventLoop.now
        if let failure = headers.requestFailure { return respond(with: failure, context: context) }
        guard let request = HTTPRequest(headers) else { return context.close(promise: nil) }
        isHeadRequest = request.method == .head
        if !isLast, request.expectsContinue(maximumBodyBytes: configuration.maximumBodyBytes) {
            context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: [":status": "100"]))), promise: nil)
        }
        requests.receive(.head(request))
    }

    private func receive(_ data: HTTP2Frame.FramePayload.Data) {
        let paddingBytes = data.paddingBytes.map { $0 + 1 } ?? 0
        window -= data.data.readableBytes + paddingBytes
        receivedByteCount += data.data.readableBytes
        guard case .byteBuffer(let part) = data.data, part.readableBytes > 0 else { return }
        requests.receive(.body(part))
    }

    private func receiveEnd() {
        guard !isRequestComplete else { return }
        isRequestComplete = true
        windowReservation = nil
        requests.receive(.end)
    }

    /// Resets the stream before its request is processed, so that the client may send it again.
    private func refuse() {
        context?.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        requests.receiveReadComplete()
        updateInput()
        context.fireChannelReadComplete()
    }

    // MARK: - Response

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !hasEndedResponse else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head):
            isResponding = true
            unwrittenHead = HPACKHeaders(head)
        case .body(let part) where !isHeadRequest:
            writeBuffered(context: context)
            unwrittenBody = part
        case .body:
            break
        case .end(let trailers):
            writeEnd(trailers, context: context)
        }
        promise?.succeed()
    }

    func flush(context: ChannelHandlerContext) {
        writeBuffered(context: context)
        context.flush()
    }

    /// Writes the buffered head and body of an incomplete response.
    private func writeBuffered(context: ChannelHandlerContext) {
        if let head = unwrittenHead {
            unwrittenHead = nil
            context.write(wrapOutboundOut(.headers(.init(headers: head))), promise: nil)
        }
        if let body = unwrittenBody {
            unwrittenBody = nil
            write(body, isLast: false, context: context)
        }
    }

    private func writeEnd(_ trailers: HTTPFields?, context: ChannelHandlerContext) {
        if let trailers, !trailers.isEmpty {
            writeBuffered(context: context)
            hasEndedResponse = true
            write(.headers(.init(headers: HPACKHeaders(trailers: trailers), endStream: true)), byteCount: 1, context: context)
        } else if unwrittenBody == nil, let head = unwrittenHead {
            unwrittenHead = nil
            hasEndedResponse = true
            write(.headers(.init(headers: head, endStream: true)), byteCount: 1, context: context)
        } else {
            let body = unwrittenBody ?? ByteBuffer()
            unwrittenBody = nil
            writeBuffered(context: context)
            hasEndedResponse = true
            write(body, isLast: true, context: context)
        }
    }

    private func write(_ body: ByteBuffer, isLast: Bool, context: ChannelHandlerContext) {
        write(.data(.init(data: .byteBuffer(body), endStream: isLast)), byteCount: body.readableBytes + 1, context: context)
    }

    /// Writes a frame that may wait for the client to read earlier ones.
    private func write(_ frame: HTTP2Frame.FramePayload, byteCount: Int, context: ChannelHandlerContext) {
        writtenByteCount += byteCount
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.sentByteCount += byteCount
            if self.hasEndedResponse, self.sentByteCount == self.writtenByteCount { self.completeResponse() }
        }
        context.write(wrapOutboundOut(frame), promise: promise)
    }

    /// Closes the stream of a request that the client is still sending (RFC 9113, 8.1). What arrives from now on is discarded.
    ///
    /// Not at once: some clients, such as curl, discard a response that arrives together with the reset.
    private func completeResponse() {
        guard !isRequestComplete, let context else { return }
        context.eventLoop.assumeIsolated().scheduleTask(in: HTTP2Configuration.resetDelay) {
            guard !self.isRequestComplete else { return }
            self.context?.writeAndFlush(self.wrapOutboundOut(.rstStream(.noError)), promise: nil)
        }
    }

    /// Responds to a request that is not passed on.
    private func respond(with failure: HTTPFailure, context: ChannelHandlerContext) {
        let response = failure.connectionResponse(at: configuration.date.text)
        write(context: context, data: NIOAny(ResponsePart.head(response.head)), promise: nil)
        write(context: context, data: NIOAny(ResponsePart.body(response.body)), promise: nil)
        write(context: context, data: NIOAny(ResponsePart.end(nil)), promise: nil)
        flush(context: context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        requests.writer.setWritable(context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let observation = event as? StreamStallObservation else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        stallObservation = observation
        connection.observeStalls()
        promise?.succeed()
    }
}

extension HTTP2StreamHandler: RequestSource {
    func respondToMalformedHead() {
        // Only the head of an HTTP/1 request can be malformed without ending its connection or stream.
    }

    /// Extends the window by what has been read, once that is half of it.
    func updateInput() {
        guard !isRequestComplete, !requests.discardsBody, let context else { return }
        guard maximumWindow - requests.unreadByteCount - window >= maximumWindow / 2 else { return }
        if windowReservation == nil {
            let reservation = MemoryBudget.Reservation(of: configuration.windowBudget)
            if reservation.grow(by: HTTP2Configuration.streamWindow) {
                windowReservation = reservation
                maximumWindow = HTTP2Configuration.streamWindow
            }
        }
        let increment = maximumWindow - requests.unreadByteCount - window
        window += increment
        context.writeAndFlush(wrapOutboundOut(.windowUpdate(windowSizeIncrement: increment)), promise: nil)
    }
}

// Called by the connection.
extension HTTP2StreamHandler {
    /// Cancels the request.
    func cancel() {
        requests.cancel()
    }

    /// Abandons a request that has not been received completely, as part of a shutdown.
    func shutDown() {
        if isWaitingForBody { refuse() }
    }

    /// True if the response waits for the rest of the request.
    private var isWaitingForBody: Bool { !isRequestComplete && !isResponding }

    /// Enforces the timeouts of the stream. Called at intervals.
    func checkProgress(at now: NIODeadline) {
        checkBodyRate(at: now)
        checkStall(at: now)
    }

    private func checkBodyRate(at now: NIODeadline) {
        guard hasReceivedHead, isWaitingForBody,
            headTime + configuration.bodyTimeout(after: receivedByteCount) <= now
        else { return }
        // The reader of the body receives the error and responds with it.
        requests.receive(.failure(HTTPFailure.bodyTimeout(configuration)))
    }

    /// Closes a stream whose client does not read the response.
    private func checkStall(at now: NIODeadline) {
        guard sentByteCount < writtenByteCount, let context else {
            stallDetector = nil
            return
        }
        guard var detector = stallDetector else {
            stallDetector = StallDetector(timeout: configuration.stallTimeout)
            stallDetector?.start(deliveredBytes: sentByteCount, at: now)
            return
        }
        let isStalled = detector.isStalled(deliveredBytes: sentByteCount, at: now)
        stallDetector = detector
        if !context.channel.isWritable, configuration.shutdown.isGracePeriodOver(at: now) {
            context.close(promise: nil)
        } else if isStalled, let observation = stallObservation {
            stallObservation = nil
            stallDetector = StallDetector(timeout: configuration.stallGrace)
            stallDetector?.start(deliveredBytes: sentByteCount, at: now)
            observation.onStall()
        } else if isStalled {
            context.close(promise: nil)
        }
    }
}

extension HPACKHeaders {
    /// The failure of a request whose header list exceeds the limits; `nil` for any other one.
    fileprivate var requestFailure: HTTPFailure? {
        var byteCount = 0
        for (name, value, _) in self {
            byteCount += name.utf8.count + value.utf8.count
            if name == ":path", value.utf8.count > ConnectionConfiguration.maximumHeadBytes { return .targetTooLong }
        }
        // Besides the fields, a request has up to four pseudo-header fields.
        guard count > HTTP2Configuration.maximumFieldCount + 4 || byteCount > ConnectionConfiguration.maximumHeadBytes else {
            return nil
        }
        return .headersTooLarge
    }
}

extension HTTPRequest {
    /// Returns whether the client waits for `100 Continue` before it sends the body. A body that is too large is rejected before.
    fileprivate func expectsContinue(maximumBodyBytes: Int) -> Bool {
        guard let expectation = headerFields[.expect], HeaderListElement(expectation.utf8).hasValue("100-continue") else {
            return false
        }
        return headerFields[.contentLength].map { (Int($0) ?? .max) <= maximumBodyBytes } ?? true
    }
}
