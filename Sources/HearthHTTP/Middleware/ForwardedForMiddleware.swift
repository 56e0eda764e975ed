import HTTPTypes
import Hummingbird

/// Determines the client of a request that a trusted proxy forwarded, from `X-Forwarded-For`.
///
/// No other forwarding header is used: proxies must pass the original `Host`, and `Origin` shows whether the browser uses TLS.
struct ForwardedForMiddleware: RouterMiddleware {
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
