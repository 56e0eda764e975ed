import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// The responder for requests. It replaces that of Hummingbird's application and uses less memory per connection.
///
/// A task never shrinks its stack memory, and a connection's task lives as long as the connection. Each request is therefore
/// processed in a separate task, so that idle connections and open streams retain none of its memory.
struct ConnectionResponder: Sendable {
    let routes: RouteTable
    /// The middlewares, and then the handler of the request's route.
    let responder: any HTTPResponder<HearthRequestContext>
    let logger: Logger
    let date: HTTPDateCache

    func respond(to request: Request, with writer: consuming ResponseWriter, on channel: any Channel) async throws {
        let response = try await response(to: request, on: channel)
        guard response.body.contentLength == nil else {
            return try await writer.write(response: response.head, body: response.body)
        }
        // Release the head before streaming the body.
        let bodyWriter = try await writer.writeHead(response.head)
        try await (consume response).body.write(bodyWriter)
    }

    @inline(never)
    private func response(to request: Request, on channel: any Channel) async throws -> Response {
        // An `async let` would add 700 bytes to the connection's task.
        try await withThrowingTaskGroup(of: Response.self) { group in
            group.addTask {
                var context = HearthRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                if let route = routes.route(at: request.uri.path) { context.route = route }
                var response = try await responder.respond(to: request, context: context)
                response.headers[.date] = date.text
                return response
            }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }
}
