import DocumentModel
package import HTTPTypes
package import HummingbirdCore

/// A path, or all paths below one, with the policy and the handlers of its requests.
package final class Route: Sendable {
    /// Responds to the requests of a route.
    package typealias Handler = @Sendable (Request, HearthRequestContext) async throws -> Response

    private enum Handlers: Sendable {
        case none
        /// In the order in which `Allow` lists them.
        case byMethod([(method: HTTPRequest.Method, handler: Handler)])
        case allMethods(Handler)
    }

    /// The path, or the prefix of the paths, which ends with a slash.
    let path: String
    let isPrefix: Bool
    package let policy: RoutePolicy
    private let handlers: Handlers

    private init(_ path: String, isPrefix: Bool, _ policy: RoutePolicy, _ handlers: Handlers) {
        self.path = path
        self.isPrefix = isPrefix
        self.policy = policy
        self.handlers = handlers
    }

    /// Creates the route of one path. Requests with other methods get 405, and OPTIONS gets the list of methods.
    ///
    /// The response of a handler to HEAD is sent without its body.
    package convenience init(
        _ path: String,
        _ policy: RoutePolicy,
        _ handlers: KeyValuePairs<HTTPRequest.Method, Handler>
    ) {
        self.init(path, isPrefix: false, policy, .byMethod(handlers.map { ($0.key, $0.value) }))
    }

    /// Creates the route of all paths below a prefix, which ends with a slash.
    package convenience init(
        below prefix: String,
        _ policy: RoutePolicy,
        _ handlers: KeyValuePairs<HTTPRequest.Method, Handler>
    ) {
        self.init(prefix, isPrefix: true, policy, .byMethod(handlers.map { ($0.key, $0.value) }))
    }

    /// Creates the route of one path whose handler responds to every method.
    package convenience init(_ path: String, _ policy: RoutePolicy, allMethods handler: @escaping Handler) {
        self.init(path, isPrefix: false, policy, .allMethods(handler))
    }

    /// Creates the route of a prefix, which ends with a slash, and all paths below it; its handler responds to every method.
    package convenience init(below prefix: String, _ policy: RoutePolicy, allMethods handler: @escaping Handler) {
        self.init(prefix, isPrefix: true, policy, .allMethods(handler))
    }

    /// The methods that the route has handlers for; `nil` if its handler decides.
    var methods: [HTTPRequest.Method]? {
        switch handlers {
        case .none: []
        case .byMethod(let handlers): handlers.map(\.method)
        case .allMethods: nil
        }
    }

    /// The path as a pattern: that of a prefix ends with an asterisk.
    var pattern: String { isPrefix ? path + "*" : path }

    /// The route of unlisted paths.
    static let unlisted = Route("", isPrefix: false, RoutePolicy(), .none)

    /// A route with the same handlers for another spelling of the path; `nil` if only the exact path is served.
    ///
    /// Requests with a trailing slash are accepted, but their policy is that of any unlisted path.
    var nonCanonical: Route? {
        guard case .byMethod = handlers else { return nil }
        var policy = RoutePolicy()
        policy.body = self.policy.body
        return Route("", isPrefix: false, policy, handlers)
    }
}

extension Route {
    /// Responds to a request.
    ///
    /// - Throws: ``HTTPFailure``: 404 without a handler, 405 for a method without one.
    package func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        switch handlers {
        case .allMethods(let handler): return try await handler(request, context)
        case .none: throw HTTPFailure.unlistedPath
        case .byMethod(let handlers):
            guard let handler = handlers.first(where: { $0.method == request.method })?.handler else {
                return try methodsResponse(to: request, handlers.map(\.method))
            }
            guard !isPrefix || request.isBelow(path) else { throw HTTPFailure.unlistedPath }
            let response = try await handler(request, context)
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// Returns the response to OPTIONS; throws the failure for a method that the route doesn't support.
    private func methodsResponse(to request: Request, _ methods: [HTTPRequest.Method]) throws(HTTPFailure) -> Response {
        // A non-canonical path is unlisted, so it has no list of methods.
        guard !path.utf8.isEmpty else { throw .unlistedPath }
        let methods = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        guard request.method != .options else { return Response(status: .noContent, headers: [.allow: methods]) }
        throw HTTPFailure(
            .methodNotAllowed,
            .unimplemented,
            "Method not allowed. This path supports \(methods).",
            headers: [.allow: methods]
        )
    }
}

extension Request {
    /// Returns whether anything but slashes follows a prefix of the path.
    fileprivate func isBelow(_ prefix: String) -> Bool {
        uri.path.utf8.dropFirst(prefix.utf8.count).contains { $0 != UInt8(ascii: "/") }
    }
}

extension HTTPFailure {
    fileprivate static var unlistedPath: HTTPFailure {
        HTTPFailure(.notFound, .notFound, "No resource at this path.")
    }
}
