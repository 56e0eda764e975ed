import DocumentModel
package import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import Logging
import NIOHTTP1

/// Turns every failure into a small response of JSON, and puts the headers on that every response has.
///
/// It stands around the others, so what they refuse and what no route answers passes through it too.
struct ResponseMiddleware: RouterMiddleware {
    /// The methods of the server's own paths, for what is asked with another method. A path that ends in `/**` stands for all below.
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
            response = respondUnmatched(request)
        } catch {
            let failure = Self.failure(for: error, logger: context.requestLogger)
            response = failure.response(to: request)
        }
        for field in Self.headers where !response.headers.contains(field.name) {
            response.headers.append(field)
        }
        return response
    }

    /// What a client is told of an error; what it must not see goes to the log.
    private static func failure(for error: any Error, logger: Logger) -> HTTPFailure {
        switch error {
        case let failure as HTTPFailure:
            return failure
        case let error as HTTPParserError:
            // In the body; what is wrong with a head never comes here.
            return HTTPFailure(error)
        case let error as any RPCErrorConvertible where error.rpcError.code != .internalError:
            return HTTPFailure(error.rpcError)
        case let error as any HTTPResponseError:
            return HTTPFailure(error)
        default:
            return HTTPFailure(.internalServerError, .internal(error, "request failed", logger: logger))
        }
    }

    private func respondUnmatched(_ request: Request) -> Response {
        guard let known = allowedMethods.first(where: { request.isAt($0.path) }), !request.isAskedWith(known.methods) else {
            return HTTPFailure(.notFound, .notFound, "There is nothing at this path.").response(to: request)
        }
        if request.method == .options {
            return Response(status: .noContent, headers: [.allow: known.methods])
        }
        return HTTPFailure(
            .methodNotAllowed,
            .unimplemented,
            "This path is asked with \(known.methods).",
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

extension HTTPField.Name {
    // Literals of tokens, which is all that a name must be.
    private static func literal(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name)!
    }

    /// `Host`, for what is left when the first of the fields has become the request's authority.
    static let secondHost = literal("Host")
    package static let lastEventID = literal("Last-Event-ID")
    static let secFetchSite = literal("Sec-Fetch-Site")
    static let referrerPolicy = literal("Referrer-Policy")
    static let xAccelBuffering = literal("X-Accel-Buffering")
    static let xForwardedFor = literal("X-Forwarded-For")
    /// What Google's clients say of themselves.
    static let xGoogAPIClient = literal("X-Goog-Api-Client")
    /// How many documents could have been in an answer of Firestore's interface, and can't be read.
    static let hearthDamagedDocuments = literal("Hearth-Damaged-Documents")
}

extension Request {
    /// Whether the path, without query, is this one.
    func hasPath(_ path: String) -> Bool {
        uri.path.utf8.elementsEqual(path.utf8)
    }

    /// Whether the path is this one, or below it where it ends in `/**`.
    fileprivate func isAt(_ path: String) -> Bool {
        guard path.utf8.suffix(2).elementsEqual("**".utf8) else { return hasPath(path) }
        return uri.path.utf8.starts(with: path.utf8.dropLast(2))
    }

    /// Whether the method is one of these, which have commas between them.
    fileprivate func isAskedWith(_ methods: String) -> Bool {
        let names = methods.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
        return method != .options && names.contains { $0.elementsEqual(method.rawValue.utf8) }
    }

    var isCall: Bool {
        hasPath("/rpc")
    }

    /// Whether it is for Firestore's own interface.
    var isFirestoreCall: Bool {
        uri.path.utf8.starts(with: "/v1/".utf8) || uri.path.utf8.starts(with: "/emulator/v1/".utf8)
    }

    /// Whether it is for the pages, which ask who comes without a key to sign in.
    var isForPages: Bool {
        let path = uri.path.utf8
        return ["/", "/admin", "/rpc/docs", "/rpc/docs/"].contains { path.elementsEqual($0.utf8) }
            || path.starts(with: "/admin/".utf8)
    }

    /// Whether it asks for Server-Sent Events, as a browser that follows something does.
    var acceptsEvents: Bool {
        FieldValue.list(headers[.accept]).contains { $0.isValue("text/event-stream") && !$0.isRefused }
    }

    /// Whether it asks for a stream: of the service, or of what a page shows.
    var isForStream: Bool { hasPath("/watch") || acceptsEvents }

    /// Whether it is a call, a stream, or asks for their description: what programs ask for, not people with browsers.
    var isOfService: Bool {
        isCall || isFirestoreCall || hasPath("/watch") || hasPath("/openrpc.json")
    }
}
