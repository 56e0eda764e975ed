import DocumentModel
import HTTPTypes
import Hummingbird

/// Refuses what the pages of other sites ask for: a request with an `Origin` must come from this server's own pages.
struct OriginMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        for origin in request.headers[values: .origin] where !Self.isOwn(origin, authority: request.head.authority) {
            throw HTTPFailure(.forbidden, .permissionDenied, "Pages of other sites may not call this server.")
        }
        return try await next(request, context)
    }

    /// Whether an origin is `http://` or `https://` and the request's own host and port.
    static func isOwn(_ origin: String, authority: String?) -> Bool {
        guard let authority else { return false }
        let origin = origin.utf8.map(\.lowercased)
        return ["http://", "https://"].contains { scheme in
            origin.elementsEqual(Array(scheme.utf8) + authority.utf8.map(\.lowercased))
        }
    }
}
