import Concurrency
import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import Hummingbird
import Logging
import NIOCore
import SwiftProtobuf

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
        let slot = try server.streams.acquireSlot(for: requestContext)
        let reader = try request.grpcMessageReader(atMost: server.maximumMessageBytes)
        let timeout = try request.grpcTimeout
        let eventLoop = requestContext.channel.eventLoop
        return Response(
            status: .ok,
            headers: .grpc,
            body: ResponseBody { writer in
                defer { withExtendedLifetime(slot) {} }
                let inbox = StreamInbox<Input>()
                let requests = GRPCRequests(body: request.body, reader: reader, budget: server.bodyBudget) {
                    server.callRates.delayOfMessage(in: requestContext)
                }
                var responses: any StreamWriter<Output> = GRPCResponses<Output>(writer, on: eventLoop, of: server.streams)
                var status = GRPCStatus.ok
                do {
                    try await server.streams.keepOpen(inbox, for: context) {
                        try await withThrowingTaskGroup { group in
                            group.addTask { await requests.move(to: inbox) }
                            if let timeout, timeout < Self.maximumTimeout {
                                group.addTask {
                                    if (try? await Task.sleep(for: timeout)) != nil { inbox.end(.timeout) }
                                }
                            }
                            try await method.execute(inbox, &responses, context)
                            group.cancelAll()
                        }
                    }
                } catch let error as GRPCStatus {
                    status = error
                } catch let error as StatusError {
                    status = GRPCStatus(error)
                } catch is CancellationError {
                    status = GRPCStatus(.cancelled, "The stream was cancelled.")
                } catch  where requestContext.channel.isActive {
                    status = GRPCStatus(.unexpected(error, "Stream failed", logger: requestContext.requestLogger))
                }
                server.metrics?.record(request.grpcMethod, status, time: nil)
                try await writer.finish(status.trailers)
            }
        )
    }
}

/// The messages that the client of a gRPC stream sends.
private struct GRPCRequests: Sendable {
    let body: RequestBody
    let reader: GRPCMessageReader
    let budget: MemoryBudget
    /// Counts a message after the first one, and returns the time after which to process it.
    let delay: @Sendable () -> Duration

    /// Moves the messages to the inbox of the stream, each once the one before has been taken.
    func move<Input: Message>(to inbox: StreamInbox<Input>) async {
        do {
            var reader = reader
            let reservation = MemoryBudget.Reservation(of: budget)
            var isFirst = true
            for try await part in body {
                reader.append(part)
                while let message = try reader.next() {
                    let bytes = try message.decompressed { reservation.resize(to: $0, usedBytes: $0) }
                    if !isFirst { try await inbox.wait(for: delay()) }
                    isFirst = false
                    inbox.add(try Input(decoding: bytes))
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
        try await writer.write(try ByteBuffer(responses).readableBytesView, on: eventLoop)
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
        for response in responses { writeGRPCMessage(try response.encoded()) }
    }
}
