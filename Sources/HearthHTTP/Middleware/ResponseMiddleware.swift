import DocumentModel
import HTTPTypes
import HearthAPI
import Hummingbird
import JSONRPC
import Logging
import NIOHTTP1

/// Maps errors to JSON responses, and adds the default headers to every response.
///
/// It is one of the outermost middlewares, so that it also handles errors of the other middlewares and of unlisted paths.
struct ResponseMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            let failure = Self.failure(for: error, logger: context.requestLogger)
            response = context.route.policy.errorFormat.response(for: failure, to: request)
        }
        for field in Self.headers where !response.headers.contains(field.name) {
            response.headers.append(field)
        }
        return response
    }

    /// Maps an error to the failure that the client sees; unexpected errors are logged.
    private static func failure(for error: any Error, logger: Logger) -> HTTPFailure {
        switch error {
        case let failure as HTTPFailure:
            return failure
        case let error as HTTPParserError:
            // An error in the body; errors in a head are handled by the connection.
            return HTTPFailure(error)
        case let error as any RPCErrorConvertible where error.rpcError.code != .internalError:
            return HTTPFailure(error.rpcError)
        case let error as any HTTPResponseError:
            return HTTPFailure(error)
        default:
            return HTTPFailure(.internalServerError, .internal(error, "Request failed", logger: logger))
        }
    }

    /// The default headers, for every response that doesn't set them itself.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .referrerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
    ]
}
