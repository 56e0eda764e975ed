import DocumentModel
import HTTPTypes
import Hummingbird

/// Rejects request targets with an unencoded `#`. It would start a fragment, which is never sent (RFC 9112, 3.2); a client that
/// sends one means it as a part of the path or query, and would get a different resource.
struct RequestTargetMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.head.path?.utf8.contains(UInt8(ascii: "#")) != true else {
            throw HTTPFailure(.badRequest, .invalidArgument, "The request target contains an unencoded #. Write it as %23.")
        }
        return try await next(request, context)
    }
}
