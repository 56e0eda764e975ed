import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import Logging
import NIOCore
import UTF8Text

/// The API and the limits that the methods of a server share. The limits of calls are those of HTTP requests.
struct GRPCServer: Sendable {
    /// The API, in the default database and for no caller.
    let context: ServiceContext
    /// The memory for the messages that streams receive.
    let bodyBudget: MemoryBudget
    /// The streams of the server, with their limits.
    let streams: WatchStreamService
    let authenticator: Authenticator
    /// The limits on the rate of calls.
    let callRates: CallRateLimiter
    let responseBudget: MemoryBudget
    let logger: Logger
    /// The metrics in which calls are counted; `nil` for none.
    var metrics: GRPCMetrics?
    /// True if calls have spans.
    let isTraced: Bool
    fileprivate let bodyExecutor: LargeBodyExecutor
    private let deadlines: CallDeadlines

    init(_ context: ServiceContext, _ server: ServerResources) {
        self.context = context
        bodyBudget = server.bodyBudget
        streams = server.streams
        authenticator = server.authenticator
        callRates = server.callRates
        responseBudget = server.responseBudget
        logger = server.logger
        isTraced = server.isTraced
        bodyExecutor = server.bodyExecutor
        deadlines = CallDeadlines(
            timeout: context.server.limits.callTimeout,
            queueTime: context.server.limits.queueTime,
            onRefusal: context.server.metrics.store.queues.recordRefusal
        )
    }

    /// The maximum length of a message.
    var maximumMessageBytes: Int { context.server.limits.maximumBodyBytes }
}

extension GRPCCall {
    func respond(
        to request: Request,
        in requestContext: HearthRequestContext,
        on server: GRPCServer,
        time: inout Stopwatch?
    ) async throws -> Response {
        let deadlines = try server.deadlines(of: request)
        let message = try await request.onlyGRPCMessage(atMost: min(maximumMessageBytes, server.maximumMessageBytes))
        let waiting = Stopwatch()
        let reservation = MemoryBudget.Reservation(of: server.responseBudget)
        guard await reservation.reserve(expectedResponseBytes) else {
            throw HTTPFailure(.serviceUnavailable, .responseMemoryExhausted(isExecuted: false))
        }
        time = waiting
        let context = server.context.withCaller(requestContext.caller)
        // Long responses are not encoded on the event loop.
        let executor = expectedResponseBytes > RPCResponseBody.maximumInlineBytes ? nil : requestContext.executor
        let result: Result<GRPCMessages, any Error> = await server.bodyExecutor.run(
            bodyBytes: message.maximumLength,
            on: executor
        ) { executor in
            do {
                // Here, so that few large messages are decompressed at the same time.
                let message = try message.decompressed()
                return .success(try await deadlines.run(on: executor, waiting: waiting) { try await execute(message, context) })
            } catch {
                return .failure(error)
            }
        }
        return try Response(
            try result.get(),
            isOfWrite: requiredPermission?.role == .writer,
            within: reservation,
            on: requestContext.channel.eventLoop
        )
    }
}

extension GRPCServer {
    /// Returns the deadlines with the time limit of a call: the server's, or that of its `grpc-timeout` if it is shorter.
    fileprivate func deadlines(of request: Request) throws(GRPCStatus) -> CallDeadlines {
        guard let timeout = try request.grpcTimeout else { return deadlines }
        return timeout < context.server.limits.callTimeout ? deadlines.with(timeout: timeout) : deadlines
    }
}

extension Request {
    /// True if the request is a gRPC call. Only the content type tells: WebChannel has the same paths.
    var isGRPC: Bool {
        hasMediaType("application/grpc") || hasMediaType("application/grpc+proto")
    }

    /// The name of the method that the path ends with.
    var grpcMethod: UTF8Key {
        UTF8Key(uri.path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? "")
    }

    /// The time limit that the client sets; `nil` without one.
    var grpcTimeout: Duration? {
        get throws(GRPCStatus) {
            guard let text = headers[.grpcTimeout] else { return nil }
            return try Duration(grpcTimeout: text)
        }
    }

    /// Reads a body with exactly one message.
    fileprivate func onlyGRPCMessage(atMost maximumBytes: Int) async throws -> GRPCMessage {
        var reader = try grpcMessageReader(atMost: maximumBytes)
        var message: GRPCMessage?
        for try await part in body {
            reader.append(part)
            while let next = try reader.next() {
                guard message == nil else { throw GRPCStatus(.invalidArgument, "Expected one message, found several.") }
                message = next
            }
        }
        try reader.finish()
        guard let message else { throw GRPCStatus(.invalidArgument, "Expected one message, found none.") }
        return message
    }

    /// Returns the reader of the body's messages.
    ///
    /// - Throws: UNIMPLEMENTED for an unknown encoding.
    func grpcMessageReader(atMost maximumBytes: Int) throws(GRPCStatus) -> GRPCMessageReader {
        let name = headers[.grpcEncoding] ?? GRPCEncoding.identity.rawValue
        guard let encoding = GRPCEncoding.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else {
            throw GRPCStatus(.unimplemented, "Unsupported grpc-encoding \(Excerpt(name)); use identity or gzip.")
        }
        return GRPCMessageReader(maximumBytes: maximumBytes, encoding: encoding)
    }
}

extension Response {
    /// Creates the response of a call. The messages of a long response are encoded as fast as the client reads them.
    ///
    /// - Parameters:
    ///   - isOfWrite: True for the response to a write, which is sent even without memory for it.
    ///   - reservation: The memory reserved for the response.
    ///   - eventLoop: The event loop of the connection.
    fileprivate init(
        _ messages: GRPCMessages,
        isOfWrite: Bool,
        within reservation: MemoryBudget.Reservation,
        on eventLoop: any EventLoop
    ) throws {
        var buffer = ByteBuffer()
        var next = 0
        // A short response is encoded now, so that an error needs no head before it.
        while next < messages.count, messages.estimatedBytes <= RPCResponseBody.smallResponseBytes {
            buffer.writeGRPCMessage(try messages.message(next))
            next += 1
        }
        let byteCount = buffer.readableBytes + (next < messages.count ? messages.estimatedBytes : 0)
        if isOfWrite {
            reservation.resizeRegardlessOfLimit(to: byteCount)
        } else if !reservation.resize(to: byteCount, usedBytes: byteCount) {
            throw HTTPFailure(.serviceUnavailable, .responseMemoryExhausted(isExecuted: true))
        }
        var headers = HTTPFields.grpc
        if messages.damagedCount > 0 { headers[.hearthDamagedDocuments] = "\(messages.damagedCount)" }
        // The head, body and trailers of a response of known length are sent together.
        self.init(
            status: .ok,
            headers: headers,
            body: ResponseBody(contentLength: next == messages.count ? byteCount : nil) { [buffer, next] writer in
                // Held until all messages have been encoded.
                defer { withExtendedLifetime(reservation) {} }
                if next == messages.count {
                    try await writer.write(buffer.readableBytesView, on: eventLoop)
                    try await writer.finish(GRPCStatus.ok.trailers)
                } else {
                    let status = try await messages.write(to: &writer, on: eventLoop)
                    try await writer.finish(status.trailers)
                }
            }
        )
    }
}

extension GRPCMessages {
    /// Writes the messages, as fast as the client reads them, up to the first that cannot be encoded.
    ///
    /// - Returns: The status for the trailers.
    fileprivate func write(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws -> GRPCStatus {
        var status = GRPCStatus.ok
        var chunk = ByteBuffer()
        for index in 0..<count {
            do throws(StatusError) {
                chunk.writeGRPCMessage(try message(index))
            } catch {
                status = GRPCStatus(error)
                break
            }
            if chunk.readableBytes >= chunkBytes {
                try await writer.write(chunk.readableBytesView, on: eventLoop)
                chunk = ByteBuffer()
            }
        }
        if chunk.readableBytes > 0 { try await writer.write(chunk.readableBytesView, on: eventLoop) }
        return status
    }
}
