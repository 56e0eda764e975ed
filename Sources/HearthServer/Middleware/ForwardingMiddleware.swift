import HTTPTypes
import Hummingbird

/// Finds out whom a request is from that a proxy passes on.
///
/// Of what proxies tell, this is all that is looked at: the name that the browser called is to stand in `Host`, as it does without a
/// proxy, and whether it speaks TLS tells its `Origin`.
struct ForwardingMiddleware: RouterMiddleware {
    let proxies: TrustedProxies

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        guard !proxies.isEmpty, let peer = context.client else { return try await next(request, context) }
        var context = context
        context.forwardedClient = proxies.client(of: peer, forwardedFor: request.headers[values: .xForwardedFor])
        return try await next(request, context)
    }
}
