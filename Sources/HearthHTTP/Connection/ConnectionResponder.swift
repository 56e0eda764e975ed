import Hummingbird
import Logging
import NIOCore

/// Responds to the requests of connections, each in a task of its own.
///
/// A task never shrinks its stack memory: with a task per request, idle connections retain none of it. The body of a stream is
/// written by a second task, so that open streams don't retain it either.
struct ConnectionResponder: Sendable {
    let routes: RouteTable
    let responder: RequestResponder
    let logger: Logger
    let date: HTTPDateCache

    /// The progress of a response.
    enum Progress: Sendable {
        /// The head was written; the body, which has no known length, must be written by
        /// ``ConnectionResponder/write(_:to:reporting:)``.
        case wroteHead(ResponseBody)
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
        var context = HearthRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        if let (route, index) = routes.indexedRoute(at: request.uri.path) {
            context.route = route
            context.routeIndex = index ?? .max
        }
        context.peer = connection.peer
        context.lastIDToken = connection.lastIDToken
        context.isSecure = connection.isSecure
        context.receivedBodyBytes = receivedBodyBytes
        // A body that arrives over time may be large.
        if receivedBodyBytes != nil, context.route.policy.runsOnEventLoop { context.executor = executor }
        return Task(executorPreference: context.executor) { [context] in
            var response = await responder.respond(to: request, in: context)
            response.headers[.date] = date.text
            report(await Self.write(response, to: writer))
        }
    }

    private static func write(_ response: Response, to writer: ResponseWriter) async -> Progress {
        do {
            guard response.body.contentLength != nil else {
                try await writer.writeHead(response.head)
                return .wroteHead(response.body)
            }
            try await response.body.write(writer.bodyWriter(after: response.head))
            return .ended
        } catch {
            return .failed
        }
    }

    /// Writes a body of unknown length, each part as soon as there is one.
    ///
    /// - Parameter report: Called once, on any thread.
    /// - Returns: The task that writes.
    func write(
        _ body: ResponseBody,
        to writer: ResponseWriter,
        reporting report: @escaping @Sendable (Progress) -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                try await body.write(writer.bodyWriter(after: nil))
                report(.ended)
            } catch {
                report(.failed)
            }
        }
    }
}
