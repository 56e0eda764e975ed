import DocumentModel
import HTTPTypes
import HearthAPI
import Hummingbird
import JSONRPC
import Logging
import NIOHTTP1

/// Maps errors to JSON responses, and adds the default headers to every response.
///
/// It is one of the outermost middlewares, so that it also handles the errors of the others and unmatched routes.
struct ResponseMiddleware: RouterMiddleware {
    /// The allowed methods of the server's own paths, for 405 responses. A path that ends in `/**` matches everything below it.
    let allowedMethods: [(path: String, methods: String)]

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound && error.body == nil {
            response = unmatchedResponse(to: request)
        } catch {
            let failure = Self.failure(for: error, logger: context.requestLogger)
            response = failure.response(to: request)
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

    /// Returns the response to a request that no route matched: 404, 405, or the allowed methods for OPTIONS.
    private func unmatchedResponse(to request: Request) -> Response {
        guard let known = allowedMethods.first(where: { request.matchesPath($0.path) }), !request.hasMethod(in: known.methods)
        else {
            return HTTPFailure(.notFound, .notFound, "No resource at this path.").response(to: request)
        }
        if request.method == .options {
            return Response(status: .noContent, headers: [.allow: known.methods])
        }
        return HTTPFailure(
            .methodNotAllowed,
            .unimplemented,
            "Method not allowed. This path supports \(known.methods).",
            headers: [.allow: known.methods]
        )
        .response(to: request)
    }

    /// The headers of every response that doesn't set them itself.
    static let headers: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .cacheControl: "no-store",
        .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .referrerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
    ]
}

extension Request {
    /// Returns whether the path equals a path, or is below it if that ends in `/**`.
    fileprivate func matchesPath(_ path: String) -> Bool {
        guard path.utf8.suffix(2).elementsEqual("**".utf8) else { return hasPath(path) }
        return uri.path.utf8.starts(with: path.utf8.dropLast(2))
    }

    /// Returns whether the method is in a comma-separated list and not OPTIONS.
    fileprivate func hasMethod(in methods: String) -> Bool {
        let names = methods.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
        return method != .options && names.contains { $0.elementsEqual(method.rawValue.utf8) }
    }
}
