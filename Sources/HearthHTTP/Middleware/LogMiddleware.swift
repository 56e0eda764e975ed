import Hummingbird
import Logging

/// Logs each request at debug level: method, path without query, status and time to response head. Bodies are never logged.
struct LogMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        guard context.logger.logLevel <= .debug else { return try await next(request, context) }
        let start = ContinuousClock.now
        let response = try await next(request, context)
        context.requestLogger.debug(
            "Request",
            metadata: [
                "http.method": "\(request.method)",
                "http.path": "\(request.uri.path)",
                "http.status": "\(response.status.code)",
                "http.duration": "\(ContinuousClock.now - start)",
            ]
        )
        return response
    }
}
