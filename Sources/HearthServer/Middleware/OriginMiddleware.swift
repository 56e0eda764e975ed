import DocumentModel
import HTTPTypes
import Hummingbird

/// Refuses what the pages of other sites ask for.
///
/// A request with an `Origin` must come from this server's own pages, or for calls and streams from those of an allowed origin.
/// Browsers leave it out where a page only loads or links something; `Sec-Fetch-Site` then tells whose page it is. Links to
/// pages are let through, calls, streams and whatever else could change something are not.
///
/// Forms, which a page of any site can send, have to show that they come from this server's own pages: a browser that says
/// nothing of that is refused. Calls need not, since no form can have their media type.
struct OriginMiddleware: RouterMiddleware {
    let origins: AllowedOrigins

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        for origin in request.headers[values: .origin]
        where !Self.isOwn(origin, authority: request.head.authority) && !origins.allow(origin, to: request) {
            throw HTTPFailure(.forbidden, .permissionDenied, "Pages of other sites may not call this server.")
        }
        if request.isGuarded, request.headers[values: .origin].isEmpty, request.isOfAnotherSite {
            throw HTTPFailure(.forbidden, .permissionDenied, "Pages of other sites may not call this server.")
        }
        if request.isForm, request.headers[values: .origin].isEmpty, !request.isOfOwnPage {
            throw HTTPFailure(
                .forbidden,
                .permissionDenied,
                "Forms are taken from this server's own pages only, and the request does not tell where it is from. Programs call POST /rpc."
            )
        }
        if let response = origins.preflightResponse(to: request) { return response }
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

extension Request {
    /// Whether more is at stake than looking at a page.
    fileprivate var isGuarded: Bool {
        ![.get, .head, .options].contains(method) || isCall || isFirestoreCall || hasPath("/watch")
    }

    /// Whether it is what a form of a page sends, or could: none can have the media type of JSON.
    fileprivate var isForm: Bool {
        guard method == .post, !isOfService, !hasPath("/health") else { return false }
        return !(headers[.contentType].map { FieldValue($0.utf8).isValue("application/json") } ?? false)
    }

    /// Whether a browser says that the page that asks is one of this server's.
    var isOfOwnPage: Bool {
        let sites = headers[values: .secFetchSite]
        return sites.count == 1 && FieldValue(sites[0].utf8).isValue("same-origin")
    }

    /// Whether a browser says that the page that asks is of another site, or of another host of the same site.
    fileprivate var isOfAnotherSite: Bool {
        headers[values: .secFetchSite].contains { value in
            let site = FieldValue(value.utf8)
            return site.isValue("cross-site") || site.isValue("same-site")
        }
    }
}
