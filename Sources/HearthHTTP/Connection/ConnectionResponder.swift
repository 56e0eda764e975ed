import HTTPTypes
import HearthAPI
import HummingbirdCore
import Logging
import NIOCore
import SpanRecording

/// Responds to the requests of connections, each in a task of its own.
///
/// A task never shrinks its stack memory: with a task per request, idle connections retain none of it. The body of a stream is
/// written by a second task, so that open streams don't retain it either.
struct ConnectionResponder: Sendable {
    let routes: RouteTable
    let responder: RequestResponder
    let logger: Logger
    let date: HTTPDateCache
    let accessLog: AccessLog
    /// The tracer; `nil` to record no spans.
    let tracer: RecordingTracer?
    /// True if the facts about requests are collected: for the access log, or for others.
    let tracesRequests: Bool

    /// The progress of a response.
    enum Progress: Sendable {
        /// The head was written; the body, which has no known length, must be written by
        /// ``ConnectionResponder/write(_:to:ending:reporting:)``.
        case wroteHead(ResponseBody, AccessLog.PendingEntry?)
        case ended
        /// The response could not be written completely.
        case failed
    }

    /// Responds to a request.
    ///
    /// - Parameters:
    ///   - connection: The connection of the request.
    ///   - receivedBodyBytes: The size of the body if it has been received completely.
    ///   - executor: The executor of the connection's event loop; `nil` if it has other work.
    ///   - report: Called once, on any thread.
    /// - Returns: The task that responds.
    func respond(
        to request: Request,
        from connection: ClientConnection,
        receivedBodyBytes: Int?,
        with writer: ResponseWriter,
        on channel: any Channel,
        executor: EventLoopExecutor?,
        reporting report: @escaping @Sendable (Progress) -> Void
    ) -> Task<Void, Never> {
        var context = HearthRequestContext(channel: channel, logger: logger)
        if let (route, index) = routes.indexedRoute(at: request.uri.path) {
            context.route = route
            context.routeIndex = index ?? .max
        } else {
            context.route = routes.unlistedRoute(of: request)
        }
        context.peer = connection.peer
        context.lastIDToken = connection.lastIDToken
        context.isSecure = connection.isSecure
        context.receivedBodyBytes = receivedBodyBytes
        // A body that arrives over time may be large.
        if receivedBodyBytes != nil, context.route.policy.runsOnEventLoop { context.executor = executor }
        let requestIDs = request.headers[values: .xRequestID]
        if !requestIDs.isEmpty, let id = responder.policy.value.proxies.requestID(behind: context.peer, requestIDs) {
            context.requestID = id
        }
        let activity = responder.activity
        activity.adjustPendingRequestCount(by: 1)
        guard tracesRequests else {
            return Task(executorPreference: context.executor) { [context] in
                defer { activity.adjustPendingRequestCount(by: -1) }
                let response = await response(to: request, in: context)
                report(await Self.write(response, to: writer, ending: nil))
            }
        }
        let trace = trace(of: request, in: context)
        return withTrace(trace) {
            Task(executorPreference: context.executor) { [context] in
                defer { activity.adjustPendingRequestCount(by: -1) }
                let response = await response(to: request, in: context)
                let entry = accessLog.entry(trace, request, response, in: context)
                report(await Self.write(response, to: writer, ending: entry))
            }
        }
    }

    /// Begins the trace of a request: that of its caller, or a new one.
    private func trace(of request: Request, in context: HearthRequestContext) -> RequestTrace {
        let parents = request.headers[values: .traceparent]
        let parent = parents.isEmpty ? nil : TraceContext(parents: parents, states: request.headers[values: .tracestate])
        return RequestTrace(requestID: context.requestID, parent: parent, tracer: tracer)
    }

    /// Calls `body` as a part of a request, whose span is the parent of those of clients that it uses.
    private func withTrace<Result>(_ trace: RequestTrace, _ body: () -> Result) -> Result {
        RequestTrace.$current.withValue(trace) {
            guard let span = trace.span else { return body() }
            return span.asCurrent(body)
        }
    }

    private func response(to request: Request, in context: HearthRequestContext) async -> Response {
        var response = await responder.respond(to: request, in: context)
        response.headers[.date] = date.text
        response.headers[.xRequestID] = context.requestID
        return response
    }

    private static func write(
        _ response: Response,
        to writer: ResponseWriter,
        ending entry: AccessLog.PendingEntry?
    ) async -> Progress {
        do {
            guard let byteCount = response.body.contentLength else {
                try await writer.writeHead(response.head)
                entry?.didWriteHead()
                return .wroteHead(response.body, entry)
            }
            try await response.body.write(writer.bodyWriter(after: response.head))
            entry?.end(byteCount: byteCount, isComplete: true)
            return .ended
        } catch {
            entry?.end(byteCount: 0, isComplete: false)
            return .failed
        }
    }

    /// Writes a body of unknown length, each part as soon as there is one.
    ///
    /// - Parameters:
    ///   - entry: The entry of the access log, which is made at the end.
    ///   - report: Called once, on any thread.
    /// - Returns: The task that writes.
    func write(
        _ body: ResponseBody,
        to writer: ResponseWriter,
        ending entry: AccessLog.PendingEntry?,
        reporting report: @escaping @Sendable (Progress) -> Void
    ) -> Task<Void, Never> {
        RequestTrace.$current.withValue(entry?.trace) {
            Task {
                let start = writer.bodyByteCount
                do {
                    try await body.write(writer.bodyWriter(after: nil))
                    entry?.end(byteCount: writer.bodyByteCount - start, isComplete: true)
                    report(.ended)
                } catch {
                    entry?.end(byteCount: writer.bodyByteCount - start, isComplete: false)
                    report(.failed)
                }
            }
        }
    }
}
