import HTTPTypes
import HearthAPI
import HummingbirdCore
import NIOCore
import NIOEmbedded

@testable import HearthAdmin
@testable import HearthHTTP

/// A client of the routes of pages, without the server's checks, for a caller with open access.
struct RouteClient: Sendable {
    private let table: RouteTable
    private let pages: AdminPages

    /// A response with its whole body.
    struct Response: Sendable {
        let status: HTTPResponse.Status
        let headers: HTTPFields
        let body: ByteBuffer
    }

    init(_ pages: AdminPages) {
        self.pages = pages
        let server = ServerResources(HTTPServerConfiguration(), context: pages.context, logger: pages.environment.errors.logger)
        table = RouteTable(AdminModule(pages).routes(using: server))
    }

    /// Sends a request. One to a path without a route gets the error that the server would respond with.
    func execute(
        _ uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields = [:],
        body: ByteBuffer = ByteBuffer()
    ) async throws -> Response {
        let head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1", path: uri, headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: body))
        var context = HearthRequestContext(channel: NIOAsyncTestingChannel(), logger: pages.environment.errors.logger)
        context.route = table.route(at: request.uri.path) ?? .unlisted
        context.caller = .openAccess
        var response: HummingbirdCore.Response
        do {
            response = try await context.route.respond(to: request, in: context)
        } catch let failure as HTTPFailure {
            response = context.route.policy.errorFormat.response(for: failure, to: request)
        }
        let collector = BodyCollector()
        try await response.body.write(collector)
        return Response(status: response.status, headers: response.headers, body: collector.buffer)
    }
}

/// A writer that retains a body.
private final class BodyCollector: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ part: ByteBuffer) {
        buffer.writeImmutableBuffer(part)
    }

    consuming func finish(_: HTTPFields?) {}
}
