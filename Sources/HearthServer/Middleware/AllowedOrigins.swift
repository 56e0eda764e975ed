import HTTPTypes
import Hummingbird
import StrictJSON

/// The origins of other sites whose pages may call: an exact list, never all of them, and never pages without an origin.
///
/// They call as everybody does, with a key in a header: no browser adds that by itself, so such a page can do nothing in the
/// name of who looks at it.
struct AllowedOrigins: Sendable {
    private let origins: Set<UTF8Key>

    private static let methods = "GET, HEAD, POST"
    private static let firestoreMethods = "GET, POST, PATCH, DELETE"
    private static let requestHeaders = "Authorization, Content-Type, Accept, Last-Event-ID, If-None-Match"
    private static let firestoreRequestHeaders =
        "Authorization, Content-Type, Accept, X-Goog-Api-Client, X-Goog-Request-Params, "
        + "X-Goog-Api-Key, X-Firebase-GMPID, X-Firebase-AppCheck, Google-Cloud-Resource-Prefix"
    private static let responseHeaders = "ETag, Retry-After, WWW-Authenticate"
    /// How many seconds a browser keeps what it was told.
    private static let maximumAge = "600"

    init(_ origins: [String]) {
        self.origins = Set(origins.map(Self.normalized))
    }

    /// Whether pages of an origin may ask for this; the administration's pages they may not.
    func allow(_ origin: String, to request: Request) -> Bool {
        !origins.isEmpty && (request.isOfService || request.hasPath("/health")) && origins.contains(Self.normalized(origin))
    }

    /// The one origin of a request that is allowed; nil when there is none.
    private func allowedOrigin(of request: Request) -> String? {
        let found = request.headers[values: .origin]
        guard found.count == 1, let origin = found.first, allow(origin, to: request) else { return nil }
        return origin
    }

    /// The answer to a browser that asks whether a page may make a request; nil when that is not what is asked.
    func preflightResponse(to request: Request) -> Response? {
        guard request.method == .options, allowedOrigin(of: request) != nil,
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: request.isFirestoreCall ? Self.firestoreMethods : Self.methods,
                .accessControlAllowHeaders: request.isFirestoreCall ? Self.firestoreRequestHeaders : Self.requestHeaders,
                .accessControlMaxAge: Self.maximumAge,
            ]
        )
    }

    /// Lets the page see a response, whatever it says.
    func addHeaders(to response: inout Response, for request: Request) {
        guard !origins.isEmpty else { return }
        // With or without: whoever keeps the response must not give it to the pages of another origin.
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = allowedOrigin(of: request) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.responseHeaders
    }

    private static func normalized(_ origin: String) -> UTF8Key {
        UTF8Key(String(decoding: origin.utf8.map(\.lowercased), as: UTF8.self))
    }
}

/// Tells browsers which responses the pages of other origins may see.
///
/// It stands around what turns failures into responses, so that a page sees those too.
struct OriginHeadersMiddleware: RouterMiddleware {
    let origins: AllowedOrigins

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        origins.addHeaders(to: &response, for: request)
        return response
    }
}
