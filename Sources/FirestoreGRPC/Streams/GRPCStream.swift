import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import Logging
import NIOCore
import SwiftProtobuf
import UTF8Text

/// A ``StreamMethod`` over gRPC.
///
/// The head of the response is sent at once: clients measure their timeouts from the call, not from the first message.
struct GRPCStream<Input: Message, Output: StreamResponse>: GRPCMethod {
    private let method: StreamMethod<Input, Output>

    init(_ method: StreamMethod<Input, Output>) {
        self.method = method
    }

    var isStream: Bool { true }

    /// The time from which a `grpc-timeout` is left to the client: the official ones allow streams a day.
    private static var maximumTimeout: Duration { .seconds(12 * 3_600) }

    func respond(
        to request: Request,
        in requestContext: HearthRequestContext,
        on server: GRPCServer,
        time _: inout Stopwatch?
    ) throws -> Response {
        let context = server.context.withCaller(requestContext.caller)
        try context.authorize(method.requiredPermission)
        let timeout = try request.grpcTimeout
        let call = GRPCStreamCall(
            method: method,
            context: context,
            requestContext: requestContext,
            slot: try server.streams.acquireSlot(for: requestContext),
            name: request.grpcMethod,
            body: request.body,
            reader: try request.grpcMessageReader(atMost: server.maximumMessageBytes),
            timeout: timeout.flatMap { $0 < Self.maximumTimeout ? $0 : nil },
            streams: server.streams,
            bodyBudget: server.bodyBudget,
            callRates: server.callRates,
            metrics: server.metrics
        )
        return Response(
            status: .ok,
            headers: .grpc,
            body: ResponseBody { writer in
                let status = try await call.run(writer)
                try await writer.finish(status.trailers)
            }
        )
    }
}

/// A call of a ``GRPCStream``.
///
/// A class, because each closure of the call would otherwise hold its own copy. It does not retain the head of the request.
private final class GRPCStreamCall<Input: Message, Output: StreamResponse>: Sendable {
    private let method: StreamMethod<Input, Output>
    private let context: ServiceContext
    private let requestContext: HearthRequestContext
    /// Released with the call, even if it never starts.
    private let slot: WatchSlots.Slot
    private let name: UTF8Key
    private let body: RequestBody
    private let reader: GRPCMessageReader
    private let timeout: Duration?
    private let streams: WatchStreamService
    private let bodyBudget: MemoryBudget
    private let callRates: CallRateLimiter
    private let metrics: GRPCMetrics?

    init(
        method: StreamMethod<Input, Output>,
        context: ServiceContext,
        requestContext: HearthRequestContext,
        slot: WatchSlots.Slot,
        name: UTF8Key,
        body: RequestBody,
        reader: GRPCMessageReader,
        timeout: Duration?,
        streams: WatchStreamService,
        bodyBudget: MemoryBudget,
        callRates: CallRateLimiter,
        metrics: GRPCMetrics?
    ) {
        self.method = method
        self.context = context
        self.requestContext = requestContext
        self.slot = slot
        self.name = name
        self.body = body
        self.reader = reader
        self.timeout = timeout
        self.streams = streams
        self.bodyBudget = bodyBudget
        self.callRates = callRates
        self.metrics = metrics
    }

    /// Executes the method, and returns its status.
    ///
    /// - Throws: An error of a client that has disconnected.
    func run(_ writer: any ResponseBodyWriter) async throws -> GRPCStatus {
        let inbox = StreamInbox<Input>()
        var responses: any StreamWriter<Output> = GRPCResponses<Output>(
            writer,
            on: requestContext.channel.eventLoop,
            of: streams
        )
        var status = GRPCStatus.ok
        do {
            try await streams.keepOpen(inbox, for: context) {
                try await withThrowingTaskGroup { group in
                    group.addTask { await self.moveMessages(to: inbox) }
                    if let timeout {
                        group.addTask {
                            if (try? await Task.sleep(for: timeout)) != nil { inbox.end(.timeout) }
                        }
                    }
                    try await method.execute(inbox, &responses, context)
                    group.cancelAll()
                }
            }
        } catch {
            status = try self.status(of: error)
        }
        metrics?.record(name, status, time: nil)
        return status
    }

    /// Returns the status of a call that has ended with an error.
    private func status(of error: any Error) throws -> GRPCStatus {
        switch error {
        case let status as GRPCStatus: status
        case let error as StatusError: GRPCStatus(error)
        case is CancellationError: GRPCStatus(.cancelled, "The stream was cancelled.")
        case _ where !requestContext.channel.isActive: throw error
        default: GRPCStatus(.unexpected(error, "Stream failed", logger: requestContext.requestLogger))
        }
    }

    // MARK: - Requests

    /// Moves the messages of the client to the inbox of the stream, each once the one before has been taken.
    private func moveMessages(to inbox: StreamInbox<Input>) async {
        do {
            var reader = reader
            let reservation = MemoryBudget.Reservation(of: bodyBudget)
            var isFirst = true
            for try await part in body {
                reader.append(part)
                while let message = try reader.next() {
                    let bytes = try message.decompressed { reservation.resize(to: $0, usedBytes: $0) }
                    // Counts a message after the first one.
                    if !isFirst { try await inbox.wait(for: callRates.delayOfMessage(in: requestContext)) }
                    isFirst = false
                    try Self.add(bytes, to: inbox)
                    await inbox.waitUntilEmpty()
                }
                let count = reader.bufferedBytes
                guard reservation.resize(to: count, usedBytes: count) else { throw GRPCStatus.requestMemoryExhausted }
            }
            try reader.finish()
            inbox.finish()
        } catch let status as GRPCStatus {
            inbox.fail(StatusError(status.code ?? .unknown, status.message))
        } catch let error as StatusError {
            inbox.fail(error)
        } catch {
            inbox.end(nil)
        }
    }

    /// Adds a message to the inbox. Not inlined, so that the message uses none of the task's memory.
    @inline(never)
    private static func add(_ message: [UInt8], to inbox: StreamInbox<Input>) throws(StatusError) {
        inbox.add(try Input(decoding: message))
    }
}

/// Writes the messages of a gRPC stream.
private struct GRPCResponses<Response: StreamResponse>: StreamWriter {
    private var writer: any ResponseBodyWriter
    private let eventLoop: any EventLoop
    private let streams: WatchStreamService

    init(_ writer: any ResponseBodyWriter, on eventLoop: any EventLoop, of streams: WatchStreamService) {
        self.writer = writer
        self.eventLoop = eventLoop
        self.streams = streams
    }

    mutating func write(_ responses: ArraySlice<Response>) async throws {
        let buffer = try ByteBuffer(responses)
        guard buffer.readableBytes > chunkBytes else { return try await writer.write(buffer) }
        try await writer.write(buffer.readableBytesView, on: eventLoop)
    }

    var live: (any LiveStreamWriter<Response>)? {
        (writer as? any StreamBodyWriter).map { LiveGRPCResponses(writer: $0, eventLoop: eventLoop, streams: streams) }
    }
}

/// Writes the messages of a gRPC stream on its event loop.
private struct LiveGRPCResponses<Response: StreamResponse>: LiveStreamWriter {
    let writer: any StreamBodyWriter
    let eventLoop: any EventLoop
    let streams: WatchStreamService

    static var encoding: String { "grpc" }

    func encode(_ responses: [Response]) throws(StatusError) -> ByteBuffer {
        try ByteBuffer(responses[...])
    }

    func writeIfWritable(_ content: ByteBuffer) -> Bool {
        writer.writeIfWritable(content)
    }
}

extension ByteBuffer {
    /// Encodes messages of a stream, with their prefixes.
    fileprivate init(_ responses: ArraySlice<some StreamResponse>) throws(StatusError) {
        self.init()
        let messages = try responses.map { response throws(StatusError) in try response.encoded() }
        reserveCapacity(messages.reduce(0) { $0 + $1.count + GRPCMessageReader.prefixBytes })
        for message in messages { writeGRPCMessage(message) }
    }
}
