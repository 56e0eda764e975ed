import HTTPTypes
import HummingbirdCore
import UTF8Text

/// The cross-origin policy: an exact list of allowed origins, without wildcards and without the `null` origin. In emulator mode, also
/// all origins of this machine.
///
/// Pages of these origins authenticate with a key in a header, like any client. Browsers never add that header on their own, so a
/// page cannot act with the credentials of its visitor.
struct CORSPolicy: Sendable {
    private let origins: Set<UTF8Key>
    private let allowsLoopback: Bool

    /// The lifetime of a preflight response in the browser's cache, in seconds.
    private static let maximumAge = "600"

    /// - Parameter allowsLoopback: True to allow the origins of loopback addresses, with any port.
    init(_ origins: [String], allowsLoopback: Bool = false) {
        self.origins = Set(origins.map(Self.normalized))
        self.allowsLoopback = allowsLoopback
    }

    /// Returns whether pages of an origin may make requests to a route.
    func allows(_ origin: String, for route: Route) -> Bool {
        guard isActive, route.policy.origins.crossOrigin != nil else { return false }
        let origin = Self.normalized(origin)
        return origins.contains(origin) || allowsLoopback && Self.isLoopback(origin)
    }

    /// True if pages of any other origin are allowed.
    private var isActive: Bool { allowsLoopback || !origins.isEmpty }

    /// Returns whether a normalized origin is `http` or `https` at a loopback address or `localhost`.
    private static func isLoopback(_ origin: UTF8Key) -> Bool {
        ["http://localhost", "http://127.0.0.1", "http://[::1]", "https://localhost", "https://127.0.0.1", "https://[::1]"]
            .contains { site in
                guard origin.utf8.starts(with: site.utf8) else { return false }
                let port = origin.utf8.dropFirst(site.utf8.count)
                return port.isEmpty
                    || port.first == UInt8(ascii: ":") && port.count > 1
                        && port.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }

    /// Returns the origin of a request if it is allowed.
    private func allowedOrigin(of request: Request, to route: Route) -> String? {
        let fields = request.headers[values: .origin]
        guard fields.count == 1, let origin = fields.first, allows(origin, for: route) else { return nil }
        return origin
    }

    /// Returns the response to an allowed preflight request; `nil` for any other request.
    func preflightResponse(to request: Request, for route: Route) -> Response? {
        guard request.method == .options, let rules = route.policy.origins.crossOrigin,
            allowedOrigin(of: request, to: route) != nil, request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        var headers: HTTPFields = [.accessControlAllowMethods: rules.methods, .accessControlMaxAge: Self.maximumAge]
        headers[.accessControlAllowHeaders] = rules.requestHeaders ?? request.headers[.accessControlRequestHeaders]
        // A page from the internet asks for it before it calls a server on this machine or in its network.
        if request.headers[.accessControlRequestPrivateNetwork] == "true" {
            headers[.accessControlAllowPrivateNetwork] = "true"
        }
        return Response(status: .noContent, headers: headers)
    }

    /// Adds the headers that let a page of an allowed origin read a response, including errors.
    func addHeaders(to response: inout Response, for request: Request, to route: Route) {
        guard isActive else { return }
        // Even without an origin: a cache must not serve the response to another origin.
        response.headers.append(HTTPField(name: .vary, value: "Origin"))
        guard let origin = allowedOrigin(of: request, to: route), let rules = route.policy.origins.crossOrigin else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = rules.responseHeaders
        if rules.allowsCredentials { response.headers[.accessControlAllowCredentials] = "true" }
    }

    private static func normalized(_ origin: String) -> UTF8Key {
        UTF8Key(String(decoding: origin.utf8.map(\.lowercased), as: UTF8.self))
    }
}
