import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Answers the requests of connections, in the place of Hummingbird's application, in less memory.
///
/// A task keeps the memory that its deepest call took for as long as it lives, and that of a connection lives as long as the
/// connection. So each request is worked on in a task of its own, with its context: an idle connection and a stream hold
/// nothing of what made their responses.
struct ConnectionResponder: Sendable {
    let router: Router<HearthRequestContext>.Responder
    let logger: Logger
    let date: CurrentDate

    func respond(to request: Request, with writer: consuming ResponseWriter, on channel: any Channel) async throws {
        let response = try await response(to: request, on: channel)
        guard response.body.contentLength == nil else {
            return try await writer.write(response: response.head, body: response.body)
        }
        // The head is of no more use while a stream is written.
        let bodyWriter = try await writer.writeHead(response.head)
        try await (consume response).body.write(bodyWriter)
    }

    @inline(never)
    private func response(to request: Request, on channel: any Channel) async throws -> Response {
        // An `async let` would take 700 bytes more of the connection's task.
        try await withThrowingTaskGroup(of: Response.self) { group in
            group.addTask {
                let context = HearthRequestContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                var response = try await router.respond(to: request, context: context)
                response.headers[.date] = date.httpText
                return response
            }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }
}
