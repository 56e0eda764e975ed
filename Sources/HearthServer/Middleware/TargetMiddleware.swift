import DocumentModel
import HTTPTypes
import Hummingbird

/// Refuses addresses with a raw `#`: it ends an address, and what follows it is never sent (RFC 9112, 3.2). Whoever sends it all
/// the same means a part of the path or the query, and would be given something else.
struct TargetMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.head.path?.utf8.contains(UInt8(ascii: "#")) != true else {
            throw HTTPFailure(.badRequest, .invalidArgument, "There is a # in the address, which ends one. Write it as %23.")
        }
        return try await next(request, context)
    }
}
